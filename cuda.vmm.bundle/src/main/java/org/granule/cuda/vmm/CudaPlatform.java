package org.granule.cuda.vmm;

import java.util.ArrayList;
import java.util.Hashtable;
import java.util.List;
import java.util.NoSuchElementException;
import jcuda.driver.JCudaDriver;
import org.osgi.framework.BundleContext;
import org.osgi.framework.ServiceRegistration;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;
import org.osgi.service.condition.Condition;
import org.osgi.service.log.Logger;
import org.osgi.service.log.LoggerFactory;

/**
 * Finds out whether this machine can have CUDA allocators. Each thing that is there is a condition in the service
 * registry which the allocators' component waits for, so the first of its references that is not satisfied says what
 * is missing; the reason in full is in the log and in the list of allocators.
 */
@Component(
        name = "org.granule.cuda.platform",
        service = {},
        immediate = true)
public final class CudaPlatform {

    /** The operating system and processor that the library is for. */
    static final String SYSTEM = "granule.cuda.system";
    /** A driver is installed. */
    static final String DRIVER = "granule.cuda.driver";
    /** It is new enough. */
    static final String VERSION = "granule.cuda.version";
    /** There is a GPU. */
    static final String GPU = "granule.cuda.gpu";

    static final String MECHANISM = "cuda-vmm";

    /** CUDA 11.2: the first driver with every call that is used. */
    private static final int OLDEST = 11_020;

    private final BundleContext context;
    private final List<ServiceRegistration<?>> registrations = new ArrayList<>();
    private DriverLibrary library;
    private int devices;

    /**
     * Looks for the driver and its devices.
     *
     * @param context of this bundle
     * @param log for the reason
     */
    @Activate
    public CudaPlatform(BundleContext context, @Reference(service = LoggerFactory.class) Logger log) {
        this.context = context;
        var reason = probe();
        if (reason == null) {
            registrations.add(context.registerService(CudaPlatform.class, this, null));
        } else {
            registrations.add(UnavailableCuda.register(context, CudaUnit.CUDA, reason));
            log.info("No CUDA allocator: {}", reason);
        }
    }

    /** Returns why CUDA cannot be used here, or null; what is there becomes a condition. */
    private String probe() {
        var system = System.getProperty("os.name") + " on " + System.getProperty("os.arch");
        if (!"Linux on amd64".equals(system)) {
            return "it needs Linux on amd64, this is " + system;
        }
        holds(SYSTEM);
        try {
            library = new DriverLibrary();
        } catch (IllegalArgumentException e) {
            return "no NVIDIA driver: " + DriverLibrary.NAME + " was not found or does not load; install the driver ("
                    + e.getMessage() + ")";
        } catch (IllegalCallerException e) {
            return "native access is denied; start Java with --enable-native-access=ALL-UNNAMED";
        } catch (NoSuchElementException e) {
            holds(DRIVER);
            return "the NVIDIA driver is too old, virtual memory needs CUDA 11.2: " + e.getMessage();
        }
        holds(DRIVER);
        if (library.version() != CudaResult.SUCCESS || library.intAnswer() < OLDEST) {
            return "the NVIDIA driver is too old: it knows CUDA " + version(library.intAnswer())
                    + ", virtual memory needs 11.2; update the driver";
        }
        holds(VERSION);
        var reason = start();
        if (reason == null) {
            holds(GPU);
        }
        return reason;
    }

    private String start() {
        try {
            int code = CudaResult.of(() -> JCudaDriver.cuInit(0));
            if (code != CudaResult.SUCCESS && code != CudaResult.NO_DEVICE) {
                return "the NVIDIA driver does not start: "
                        + CudaResult.fault(code, "cuInit", 0, 0).getMessage();
            }
        } catch (LinkageError e) {
            return "JCuda's native library does not load: " + e.getMessage();
        }
        int[] count = new int[1];
        int code = CudaResult.of(() -> JCudaDriver.cuDeviceGetCount(count));
        devices = code == CudaResult.SUCCESS ? count[0] : 0;
        return devices > 0 ? null : "no GPU: the NVIDIA driver sees no device";
    }

    private void holds(String condition) {
        var properties = new Hashtable<String, Object>();
        properties.put(Condition.CONDITION_ID, condition);
        registrations.add(context.registerService(Condition.class, Condition.INSTANCE, properties));
    }

    private static String version(int number) {
        return number / 1000 + "." + number % 1000 / 10;
    }

    DriverLibrary library() {
        return library;
    }

    /** Returns how many devices there are, from ordinal 0. */
    int devices() {
        return devices;
    }

    /** Takes back what it registered. */
    @Deactivate
    void deactivate() {
        registrations.reversed().forEach(ServiceRegistration::unregister);
    }
}
