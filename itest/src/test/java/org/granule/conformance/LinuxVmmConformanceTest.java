package org.granule.conformance;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The engine over Linux memory. */
@EnabledOnOs(value = OS.LINUX, disabledReason = "the driver needs the system calls of Linux")
@DisplayName("The engine over Linux memory")
class LinuxVmmConformanceTest {

    @Nested
    @DisplayName("A. Ordinary allocation")
    class Ordinary extends OrdinaryConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new LinuxSubject(keeping);
        }
    }

    @Nested
    @DisplayName("B. Lazy backing")
    class Backing extends BackingConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new LinuxSubject(keeping);
        }
    }

    @Nested
    @DisplayName("C. Sharing")
    class Sharing extends SharingConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new LinuxSubject(keeping);
        }
    }

    @Nested
    @DisplayName("D. Release, failure, quarantine")
    class Release extends ReleaseConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new LinuxSubject(keeping);
        }
    }
}
