package org.granule.bench.report;

import java.util.Locale;

/**
 * An aim of the design, and what became of it.
 *
 * @param text what is aimed at
 * @param bound the most, or the least, that is allowed
 * @param isMost whether the bound is the most
 * @param unit of the bound
 * @param measured the figure
 */
record Aim(String text, double bound, boolean isMost, String unit, Figure measured) {

    static Aim most(String text, double bound, String unit, Figure measured) {
        return new Aim(text, bound, true, unit, measured);
    }

    static Aim least(String text, double bound, String unit, Figure measured) {
        return new Aim(text, bound, false, unit, measured);
    }

    boolean isMet() {
        return isMost ? measured.median() <= bound : measured.median() >= bound;
    }

    /** How far from the bound it is, and whether that is more than the spread. */
    String verdict() {
        double away = bound == 0 ? measured.median() : Math.abs(measured.median() - bound) / bound * 100;
        boolean sure = Double.isNaN(measured.spread()) || Math.abs(measured.median() - bound) > measured.spread();
        return (isMet() ? "met" : "**missed**")
                + (bound == 0 ? "" : String.format(Locale.ROOT, " by %.0f %%", away))
                + (sure ? "" : ", within the spread");
    }

    String row() {
        return "| " + text + " | " + (isMost ? "≤ " : "≥ ") + Figure.rounded(bound) + unit + " | " + measured + unit
                + " | " + verdict() + " |";
    }
}
