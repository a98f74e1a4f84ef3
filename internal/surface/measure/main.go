// Measure runs the catalogue and writes down, for each of its files, what code its scenarios run: into a directory of the
// file's name in the one that is given, as go tool covdata reads it. It needs to be built with -cover -covermode=atomic.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/coverage"
	"strings"

	"redlocksim/scenarios"
)

func main() {
	if err := measure(os.Args[1], scenarios.Catalogue()); err != nil {
		fmt.Fprintln(os.Stderr, "measure:", err)
		os.Exit(1)
	}
}

// measure runs scenarios in which those of a file follow each other.
func measure(dir string, all []*scenarios.Scenario) error {
	for len(all) > 0 {
		file, _, _ := strings.Cut(all[0].Name, "/")
		// What was run to check settings, when the files were read, is no scenario's.
		if err := coverage.ClearCounters(); err != nil {
			return err
		}
		for len(all) > 0 {
			if name, _, _ := strings.Cut(all[0].Name, "/"); name != file {
				break
			}
			for _, tier := range scenarios.Tiers() {
				if _, err := scenarios.Run(all[0], scenarios.Options{Tier: tier, Unhashed: true}); err != nil {
					return fmt.Errorf("%s on %s: %w", all[0].Name, tier, err)
				}
			}
			all = all[1:]
		}
		to := filepath.Join(dir, file)
		if err := os.Mkdir(to, 0o755); err != nil {
			return err
		}
		if err := coverage.WriteMetaDir(to); err != nil {
			return err
		}
		if err := coverage.WriteCountersDir(to); err != nil {
			return err
		}
	}
	return nil
}
