package org.granule.itest;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** A test with a stage of its own, which must be clean at the end. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class StageTest {

    Stage stage;

    @BeforeEach
    void setUp() {
        stage = new Stage();
    }

    @AfterEach
    void takeDown() {
        stage.close();
    }
}
