package org.granule.user;

import org.granule.governor.Binding;
import org.granule.provider.MemorySession;

/** Code outside the platform, whose places in it the platform reports. */
public final class Application {

    private Application() {}

    public static MemorySession open(Binding binding) {
        return binding.open("a", "kv");
    }

    public static long allocate(MemorySession session, long bytes) {
        return session.allocate(bytes, 1);
    }

    /** Opens a session, allocates, and forgets it. */
    public static long forget(Binding binding, long bytes) {
        return allocate(open(binding), bytes);
    }
}
