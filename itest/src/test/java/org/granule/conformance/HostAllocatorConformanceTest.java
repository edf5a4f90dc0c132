package org.granule.conformance;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;

/** The eager host allocator. */
@DisplayName("The eager host allocator")
class HostAllocatorConformanceTest {

    @Nested
    @DisplayName("A. Ordinary allocation")
    class Ordinary extends OrdinaryConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new EagerSubject(keeping);
        }
    }

    @Nested
    @DisplayName("B. Lazy backing")
    class Backing extends BackingConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new EagerSubject(keeping);
        }
    }

    @Nested
    @DisplayName("C. Sharing")
    class Sharing extends SharingConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new EagerSubject(keeping);
        }
    }

    @Nested
    @DisplayName("D. Release, failure, quarantine")
    class Release extends ReleaseConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new EagerSubject(keeping);
        }
    }
}
