package org.granule.workload.replay;

/**
 * How fast tokens come. A trace says when requests arrive, not how fast they are served; in trace time a
 * replay takes the pace of a middling GPU server. At full speed everything is due at once.
 */
final class Pace {

    /** Tokens of the prompt that are committed in one go, as servers cut prefills. */
    static final int PREFILL_TOKENS = 8_192;
    /** Output tokens of a request before the next request gets its turn. */
    static final int DECODE_TOKENS = 16;

    private static final double PREFILL_TOKENS_PER_SECOND = 8_000;
    private static final double DECODE_TOKENS_PER_SECOND = 40;
    private static final double NANOS = 1e9;

    private final double speed;

    Pace(double speed) {
        this.speed = speed;
    }

    long arrivalNanos(long traceNanos) {
        return speed == 0 ? 0 : (long) (traceNanos / speed);
    }

    long prefillNanos(int tokens) {
        return nanos(tokens / PREFILL_TOKENS_PER_SECOND);
    }

    long decodeNanos(int tokens) {
        return nanos(tokens / DECODE_TOKENS_PER_SECOND);
    }

    private long nanos(double traceSeconds) {
        return speed == 0 ? 0 : (long) (traceSeconds * NANOS / speed);
    }
}
