package org.granule.conformance;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;

/** The engine on a card. */
@DisplayName("The engine on a card")
public class CudaVmmConformance {

    @Nested
    @DisplayName("A. Ordinary allocation")
    class Ordinary extends OrdinaryConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new CudaSubject(keeping);
        }
    }

    @Nested
    @DisplayName("B. Lazy backing")
    class Backing extends BackingConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new CudaSubject(keeping);
        }
    }

    @Nested
    @DisplayName("C. Sharing")
    class Sharing extends SharingConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new CudaSubject(keeping);
        }
    }

    @Nested
    @DisplayName("D. Release, failure, quarantine")
    class Release extends ReleaseConformance {
        @Override
        Subject subject(Keeping keeping) {
            return new CudaSubject(keeping);
        }
    }
}
