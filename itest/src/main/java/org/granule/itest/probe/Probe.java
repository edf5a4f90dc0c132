package org.granule.itest.probe;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** What happens to the allocator of one deployed bundle, and how it shall misbehave. */
public final class Probe {

    /** The answer that stands for null. */
    public static final Object NULL = new Object();

    private static final Map<String, Probe> ALL = new ConcurrentHashMap<>();
    private static final AtomicInteger NUMBERS = new AtomicInteger();
    private static final Consumer<String> NOTHING = method -> {};

    private final String id = "probe-" + NUMBERS.incrementAndGet();
    private final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();
    private final Map<String, Object> answers = new ConcurrentHashMap<>();
    private final List<String> late = new CopyOnWriteArrayList<>();
    private final AtomicInteger gets = new AtomicInteger();
    private final AtomicInteger ungets = new AtomicInteger();
    private volatile Consumer<String> before = NOTHING;
    private volatile Consumer<String> after = NOTHING;
    private volatile boolean ended;
    private volatile String leftover = "the bundle has not stopped";

    /** Makes a probe that a bundle finds by its id. */
    public Probe() {
        ALL.put(id, this);
    }

    /**
     * Finds the probe of a bundle.
     *
     * @param id its id
     * @return the probe
     */
    public static Probe of(String id) {
        return ALL.get(id);
    }

    /**
     * Returns the name by which a bundle finds this probe.
     *
     * @return never null
     */
    public String id() {
        return id;
    }

    // What a test asks

    /**
     * Counts calls of one method of the allocator or its facets.
     *
     * @param method its name
     * @return calls so far
     */
    public int calls(String method) {
        var count = calls.get(method);
        return count == null ? 0 : count.get();
    }

    /**
     * Counts calls of all methods.
     *
     * @return calls by method name
     */
    public Map<String, Integer> calls() {
        var counts = new TreeMap<String, Integer>();
        calls.forEach((method, count) -> counts.put(method, count.get()));
        return counts;
    }

    /**
     * Lists the calls that came when the bundle had stopped already, or its allocator had ended.
     *
     * @return one line for each
     */
    public List<String> late() {
        return late;
    }

    /**
     * Counts how often a bundle got the service.
     *
     * @return a count
     */
    public int gets() {
        return gets.get();
    }

    /**
     * Counts how often a bundle let the service go.
     *
     * @return a count
     */
    public int ungets() {
        return ungets.get();
    }

    /**
     * Returns what the allocator still had when its bundle had stopped.
     *
     * @return {@code "nothing"}, or what
     */
    public String leftover() {
        return leftover;
    }

    /**
     * Sets what is done before each call.
     *
     * @param step is given the method's name
     */
    public void before(Consumer<String> step) {
        before = step;
    }

    /**
     * Sets what is done after each call that answered, before the answer is passed on.
     *
     * @param step is given the method's name
     */
    public void after(Consumer<String> step) {
        after = step;
    }

    /**
     * Replaces the answer of a method.
     *
     * @param method its name
     * @param answer what it answers from now on
     */
    public void answer(String method, Object answer) {
        answers.put(method, answer);
    }

    /** Forgets everything that a test has set. */
    public void reset() {
        before = NOTHING;
        after = NOTHING;
        answers.clear();
    }

    // What the bundle says

    /**
     * Notes a call.
     *
     * @param method its name
     * @param alive whether the bundle is not stopped
     */
    public void entered(String method, boolean alive) {
        calls.computeIfAbsent(method, name -> new AtomicInteger()).incrementAndGet();
        if (ended || !alive) {
            late.add(method + (ended ? " after the allocator had ended" : " after the bundle had stopped"));
        }
        before.accept(method);
    }

    /**
     * Notes the end of a call.
     *
     * @param method its name
     * @param answer of the allocator
     * @return the answer to give
     */
    public Object left(String method, Object answer) {
        after.accept(method);
        var given = answers.getOrDefault(method, answer);
        return given == NULL ? null : given;
    }

    /**
     * Notes that a bundle gets the service.
     *
     * @param service what it would get
     * @return what it gets
     */
    public Object got(Object service) {
        before.accept("getService");
        var answer = left("getService", service);
        if (answer != null) {
            gets.incrementAndGet();
        }
        return answer;
    }

    /** Notes that a bundle lets the service go. */
    public void ungot() {
        ungets.incrementAndGet();
    }

    /** Notes that the allocator starts, possibly once more. */
    public void started() {
        ended = false;
    }

    /**
     * Notes that the allocator has ended: its service is gone.
     *
     * @param left what it still had
     */
    public void ended(String left) {
        leftover = left;
        ended = true;
    }
}
