package main

import (
	"bytes"
	"path/filepath"
	"testing"
)

// Every report that a flag writes to a file is known as one of ours by its mark: the same command replaces it.
func TestReportFilesAreReplaced(t *testing.T) {
	commands := []struct {
		args  []string
		flags []string
	}{
		{[]string{"run", "17-clock-jump"}, flagsOf(runReports)},
		{[]string{"suite", "17-clock-jump", "--quiet"}, flagsOf(ciReports)},
		{[]string{"sweep", "quorum"}, flagsOf(chartReports)},
	}
	for _, c := range commands {
		for _, flag := range c.flags {
			if flag == "write" { // a scenario, which is there to be edited
				continue
			}
			args := append(c.args, "--"+flag, filepath.Join(t.TempDir(), flag))
			for _, once := range []string{"write", "replace"} {
				var stdout, stderr bytes.Buffer
				if code := run(args, &stdout, &stderr); code != exitOK {
					t.Errorf("%v cannot %s its file: exit %d: %s", args, once, code, &stderr)
				}
			}
		}
	}
}

// flagsOf are the flags of a command's reports.
func flagsOf[T any](list []fileReport[T]) (flags []string) {
	for _, r := range list {
		flags = append(flags, r.flag)
	}
	return flags
}
