package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"redlocksim/reports/heatmap"
)

// fileReport is a report of a T that a command writes to the file that a flag names. Each command has a list of them.
type fileReport[T any] struct {
	flag, usage string
	write       func(io.Writer, T) error
}

// fileReports are the reports of a command, with the paths that were asked for: "-" is standard output, empty none.
type fileReports[T any] struct {
	list  []fileReport[T]
	paths []string
}

func fileReportsOf[T any](list []fileReport[T]) fileReports[T] {
	return fileReports[T]{list, make([]string, len(list))}
}

func (f *fileReports[T]) addFlags(flags *pflag.FlagSet) {
	for i, r := range f.list {
		flags.StringVar(&f.paths[i], r.flag, "", r.usage)
	}
}

// targets are the files that were asked for.
func (f *fileReports[T]) targets() (asked []target) {
	for i, r := range f.list {
		if f.paths[i] != "" {
			asked = append(asked, file("--"+r.flag, f.paths[i]))
		}
	}
	return asked
}

// takeStdout says that one of the files is standard output.
func (f *fileReports[T]) takeStdout() bool {
	for _, path := range f.paths {
		if path == "-" {
			return true
		}
	}
	return false
}

// write writes the files that were asked for.
func (f *fileReports[T]) write(to *sink, of T) error {
	for i, r := range f.list {
		if f.paths[i] == "" {
			continue
		}
		var b bytes.Buffer
		switch err := r.write(&b, of); {
		case errors.Is(err, heatmap.ErrEmpty):
			return &failure{exitUsage, fmt.Errorf("--%s: %w", r.flag, err)}
		case err != nil:
			return wrap(fmt.Errorf("--%s: %w", r.flag, err))
		}
		if err := to.put(file("--"+r.flag, f.paths[i]), b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
