package org.granule.cuda.vmm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jcuda.CudaException;
import org.granule.memory.DriverFaultException;
import org.granule.memory.DriverFaultException.Kind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CudaResultTest {

    @ParameterizedTest
    @CsvSource({
        "1, INVALID",
        "2, OUT_OF_MEMORY",
        "101, INVALID",
        "801, INVALID",
        "900, INVALID",
        "999, INVALID",
        "4, DEVICE_LOST",
        "201, INVALID",
        "214, DEVICE_LOST",
        "700, DEVICE_LOST",
        "709, INVALID",
        "710, DEVICE_LOST",
        "719, DEVICE_LOST"
    })
    void codesAreOfAKind(int code, Kind kind) {
        assertThat(CudaResult.fault(code, "cuMemMap", 0x7000, 4096).kind()).isEqualTo(kind);
        assertThat(CudaResult.isLost(code)).isEqualTo(kind == Kind.DEVICE_LOST);
    }

    @Test
    void faultNamesCallCodeAndFigures() {
        assertThat(CudaResult.fault(2, "cuMemCreate", 0, 2 << 20))
                .hasMessageContaining("cuMemCreate answered CUDA_ERROR_OUT_OF_MEMORY (2)")
                .hasMessageContaining("2097152 bytes");
    }

    @Test
    void successIsNoFault() {
        CudaResult.require(0, "cuMemMap", 0, 0);
        assertThatThrownBy(() -> CudaResult.require(1, "cuMemMap", 0, 0)).isInstanceOf(DriverFaultException.class);
    }

    @Test
    void exceptionsOfJCudaAreCodesAgain() {
        assertThat(CudaResult.of(() -> 600)).isEqualTo(CudaResult.NOT_READY);
        assertThat(CudaResult.of(() -> {
                    throw new CudaException("CUDA_ERROR_NOT_READY");
                }))
                .isEqualTo(CudaResult.NOT_READY);
        assertThat(CudaResult.of(() -> {
                    throw new CudaException("CUDA_ERROR_ILLEGAL_ADDRESS");
                }))
                .isEqualTo(700);
    }

    @Test
    void anExceptionThatNamesNoCodeStaysOne() {
        assertThatThrownBy(() -> CudaResult.of(() -> {
                    throw new CudaException("something else");
                }))
                .isInstanceOf(CudaException.class);
    }
}
