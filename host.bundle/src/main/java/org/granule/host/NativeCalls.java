package org.granule.host;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

/** Looks functions of the C library up. */
@SuppressWarnings("restricted")
final class NativeCalls {

    private NativeCalls() {}

    /**
     * Links a function.
     *
     * @throws UnsupportedOperationException when this system's C library has none of that name
     */
    static MethodHandle link(String name, FunctionDescriptor type, Linker.Option... options) {
        var linker = Linker.nativeLinker();
        var symbol = linker.defaultLookup()
                .find(name)
                .orElseThrow(() -> new UnsupportedOperationException("the C library of " + System.getProperty("os.name")
                        + " has no " + name + "; this allocator cannot work here"));
        return linker.downcallHandle(symbol, type, options);
    }
}
