package org.granule.registry;

/**
 * Room of a cache line in front of an object's fields. Two objects that different threads write all the time lie side
 * by side after a collection; without it each write would take the line from the other thread. The virtual machine
 * lays out the fields of a superclass first.
 */
@SuppressWarnings("unused")
abstract class Apart {
    private long p0;
    private long p1;
    private long p2;
    private long p3;
    private long p4;
    private long p5;
    private long p6;
    private long p7;
}
