package org.granule.shell;

import java.util.List;

/**
 * Why an account was refused.
 *
 * @param path the account
 * @param lines the ledger's account of it
 */
public record Explanation(String path, List<String> lines) implements Answer {

    @Override
    public String text() {
        return String.join("\n", lines);
    }

    @Override
    public String id() {
        return path;
    }
}
