package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"redlocksim/internal/outfile"
	"redlocksim/reports"
)

// sink takes what a command writes: to files, by the rules about what may be replaced, or to standard output.
type sink struct {
	outfile.Rules
	stdout io.Writer
}

// newSink is where a command writes that reads these files. Those that have no name, or are not there, are passed over.
func newSink(cmd *cobra.Command, force bool, inputs ...string) sink {
	return sink{outfile.Rules{Inputs: inputs, Force: force}, cmd.OutOrStdout()}
}

func addForce(flags *pflag.FlagSet, force *bool) {
	flags.BoolVar(force, "force", false, "replace files that redlocksim did not write")
}

// target is a file or directory that a flag names: "-" is standard output, empty is none.
type target struct {
	flag, path string
	// writes says, for a directory, which names are written there; nil for a file.
	writes func(name string) bool
}

// file is a target that is a file.
func file(flag, path string) target { return target{flag: flag, path: path} }

// check looks, before anything is run, whether the targets can and may be written, and whether two are the same.
func (s *sink) check(targets ...target) error {
	for i, t := range targets {
		for _, other := range targets[:i] {
			if t.meets(other) || other.meets(t) {
				return &failure{exitUsage, fmt.Errorf("%s: %s is also the output of %s", t.flag, t.path, other.flag)}
			}
		}
	}
	for _, t := range targets {
		var err error
		switch {
		case t.path == "":
		case t.writes != nil:
			err = s.CheckDir(t.path, t.writes)
		case t.path != "-":
			err = s.Check(t.path)
		}
		if err != nil {
			return cannotWrite(t.flag, err)
		}
	}
	return nil
}

// meets says whether a target is the same as another, or a file that is written to the directory of the other.
func (t target) meets(other target) bool {
	switch {
	case t.path == "" || other.path == "":
		return false
	case t.path == "-" || other.path == "-":
		return t.path == other.path && t.writes == nil && other.writes == nil
	}
	at, to := absolute(t.path), absolute(other.path)
	if a, err := os.Stat(at); err == nil && a.Mode().IsRegular() {
		if b, err := os.Stat(to); err == nil && os.SameFile(a, b) {
			return true
		}
	}
	return at == to || other.writes != nil && filepath.Dir(at) == to && other.writes(filepath.Base(at))
}

// absolute is a path by which files are told apart that are not there yet.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		return abs
	}
	return filepath.Clean(path)
}

// put writes a file.
func (s *sink) put(t target, data []byte) error {
	var err error
	if t.path == "-" {
		_, err = s.stdout.Write(data)
	} else {
		err = s.Write(t.path, data)
	}
	if err != nil {
		return cannotWrite(t.flag, err)
	}
	return nil
}

// writeJSON writes the JSON form of a result to a file, or to standard output if it is "-".
func writeJSON(to *sink, form any, path string) error {
	var b bytes.Buffer
	if err := reports.WriteJSON(&b, form); err != nil {
		return wrap(err)
	}
	return to.put(file("--json", path), b.Bytes())
}
