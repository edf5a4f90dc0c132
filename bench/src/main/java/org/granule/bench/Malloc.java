package org.granule.bench;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

/** The C library's allocator, by the cheapest call that Java has. */
final class Malloc {

    private static final MethodHandle MALLOC = Memory.link(
            Linker.nativeLinker().defaultLookup(),
            "malloc",
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG),
            Linker.Option.critical(false));
    private static final MethodHandle FREE = Memory.link(
            Linker.nativeLinker().defaultLookup(),
            "free",
            FunctionDescriptor.ofVoid(JAVA_LONG),
            Linker.Option.critical(false));

    private Malloc() {}

    static long allocate(long bytes) throws Throwable {
        return (long) MALLOC.invokeExact(bytes);
    }

    static void free(long address) throws Throwable {
        FREE.invokeExact(address);
    }
}
