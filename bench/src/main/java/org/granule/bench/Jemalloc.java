package org.granule.bench;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** jemalloc, where it is installed; elsewhere this class fails to initialise. */
@SuppressWarnings("restricted")
final class Jemalloc {

    static final String LIBRARY = "libjemalloc.so.2";

    private static final SymbolLookup FOUND = SymbolLookup.libraryLookup(LIBRARY, Arena.global());
    private static final MethodHandle MALLOC =
            Memory.link(FOUND, "malloc", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG), Linker.Option.critical(false));
    private static final MethodHandle FREE =
            Memory.link(FOUND, "free", FunctionDescriptor.ofVoid(JAVA_LONG), Linker.Option.critical(false));

    private Jemalloc() {}

    static long allocate(long bytes) throws Throwable {
        return (long) MALLOC.invokeExact(bytes);
    }

    static void free(long address) throws Throwable {
        FREE.invokeExact(address);
    }
}
