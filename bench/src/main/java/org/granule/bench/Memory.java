package org.granule.bench;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** Native memory by address, and native functions. */
@SuppressWarnings("restricted")
final class Memory {

    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private Memory() {}

    /** Writes the first byte. */
    static void touch(long address) {
        ALL.set(JAVA_BYTE, address, (byte) 1);
    }

    static MethodHandle link(SymbolLookup library, String name, FunctionDescriptor type, Linker.Option... options) {
        return Linker.nativeLinker().downcallHandle(library.findOrThrow(name), type, options);
    }
}
