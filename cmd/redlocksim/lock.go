package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"redlocksim/internal/shell"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
)

// lockFlags name a lock program, which takes the place of the library.
type lockFlags struct {
	flags   *pflag.FlagSet
	command string
	noCache bool

	program *programs.Program
}

func (l *lockFlags) addFlags(flags *pflag.FlagSet) {
	l.flags = flags
	flags.StringVar(&l.command, "lock", "", "run this lock program in the place of the library: a .wasm file, with arguments if it takes any")
	flags.BoolVar(&l.noCache, "no-cache", false, "compile the lock program anew, and keep nothing of it in the user's cache directory")
}

// errTierOfLock is the error of a tier beside a lock program.
var errTierOfLock = &failure{exitUsage, errors.New("--lock runs on a tier of its own: leave --tier out")}

func (l *lockFlags) isGiven() bool { return l.flags.Changed("lock") }

// load compiles the program and asks it what it is.
func (l *lockFlags) load() error {
	words := strings.Fields(l.command)
	if len(words) == 0 {
		return &failure{exitUsage, errors.New("--lock: want a .wasm file")}
	}
	var err error
	if l.program, err = programs.Load(words[0], words[1:], cacheDir(l.noCache)); err != nil {
		return &failure{exitUsage, fmt.Errorf("--lock: %w", err)}
	}
	return nil
}

// close frees the program, if there is one.
func (l *lockFlags) close() {
	if l.program != nil {
		_ = l.program.Close() // it frees memory
	}
}

// cacheDir is where compiled programs are kept; empty if nowhere.
func cacheDir(none bool) string {
	dir, err := os.UserCacheDir()
	if none || err != nil { // without one, each command compiles
		return ""
	}
	return filepath.Join(dir, "redlocksim", "programs")
}

// foreign is the program in the place of the library; nil if there is none.
func (l *lockFlags) foreign() *scenarios.Foreign {
	if l.program == nil {
		return nil
	}
	return l.program.Foreign()
}

// repeat adds the program to a command that repeats a run.
func (l *lockFlags) repeat(command string) string {
	if !l.isGiven() {
		return command
	}
	return command + " --lock " + shell.Quote(l.command)
}
