package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"redlocksim/internal/shell"
	"redlocksim/live"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
	"redlocksim/scenarios/programs/process"
)

// lockFlags name a lock program, which takes the place of the library.
type lockFlags struct {
	flags   *pflag.FlagSet
	command string
	noCache bool
	words   []string // of command

	// about is what the program says of itself: one for the simulator, or for tier live if program is nil.
	about   *programs.About
	program *programs.Program
}

// addFlags adds the flags of a command; onLive says that it runs programs on tier live, too.
func (l *lockFlags) addFlags(flags *pflag.FlagSet, onLive bool) {
	l.flags = flags
	usage := "run this lock program: a .wasm file with its arguments"
	if onLive {
		usage = "run this lock program: a .wasm file, or for tier live a command, with its arguments"
	}
	flags.StringVar(&l.command, "lock", "", usage)
	flags.BoolVar(&l.noCache, "no-cache", false, "compile lock programs anew, and cache nothing")
}

// errTierOfLock is the error of a tier beside a lock program.
var errTierOfLock = &failure{exitUsage, errors.New("--lock runs on a tier of its own: leave --tier out")}

func (l *lockFlags) isGiven() bool {
	return l.command != "" || l.flags != nil && l.flags.Changed("lock")
}

// split reads the words of the command.
func (l *lockFlags) split() (err error) {
	switch l.words, err = shell.Split(l.command); {
	case err != nil:
		return &failure{exitUsage, fmt.Errorf("--lock: %w", err)}
	case len(l.words) == 0:
		return &failure{exitUsage, errors.New("--lock: want a .wasm file, or a command")}
	}
	return nil
}

// loadWasm is load for what runs in the simulator alone.
func (l *lockFlags) loadWasm(cmd *cobra.Command) error {
	if err := l.split(); err != nil {
		return err
	}
	if l.isLive() {
		return errNeedsWasm
	}
	return l.load(cmd)
}

// load compiles the program and asks it what it is.
func (l *lockFlags) load(cmd *cobra.Command) (err error) {
	if err := l.split(); err != nil {
		return err
	}
	if info, err := os.Stat(l.words[0]); err == nil && info.IsDir() {
		return &failure{exitUsage, fmt.Errorf("--lock: %s is a directory: compile the program in it first, with GOOS=wasip1 GOARCH=wasm go build -o lock.wasm, as docs/lock-programs.md says", l.words[0])}
	}
	if l.isLive() {
		ctx, stop := untilInterrupted(cmd.Context())
		defer stop()
		if l.about, err = process.Ask(ctx, l.words); err != nil {
			return &failure{exitUsage, fmt.Errorf("--lock: %s: %w", l.command, err)}
		}
		return nil
	}
	if l.program, err = programs.Load(l.words[0], l.words[1:], cacheDir(l.noCache)); err != nil {
		return &failure{exitUsage, fmt.Errorf("--lock: %w", err)}
	}
	l.about = &l.program.About
	return nil
}

// tier loads the program and says on which tier it runs. None may be asked for.
func (l *lockFlags) tier(cmd *cobra.Command, asked string) ([]scenarios.Tier, error) {
	if asked != "" {
		return nil, errTierOfLock
	}
	if err := l.load(cmd); err != nil {
		return nil, err
	}
	if l.isLive() {
		return []scenarios.Tier{scenarios.Live}, nil
	}
	return []scenarios.Tier{scenarios.Program}, nil
}

// isLive says whether the program is a process, for tier live, and not WebAssembly. Its words were read.
func (l *lockFlags) isLive() bool { return len(l.words) > 0 && !strings.HasSuffix(l.words[0], ".wasm") }

// live are the options of runs on tier live.
func (l *lockFlags) live() live.Options {
	if !l.isLive() {
		return live.Options{}
	}
	return live.Options{Lock: l.words, Server: l.about.Server, OneNode: l.about.IsOneNode(), Renews: l.about.Renews()}
}

// heading names the lock above a report.
func (l *lockFlags) heading() string {
	return fmt.Sprintf("lock %s %s (%s)", l.about.Library, l.about.Version, l.command)
}

// errNeedsWasm is the error of a program that cannot run in the simulator.
var errNeedsWasm = &failure{exitUsage, errors.New("--lock: want a .wasm file: this runs in the simulator")}

// close frees the program, if there is one.
func (l *lockFlags) close() {
	if l.program != nil {
		_ = l.program.Close() // it frees memory
	}
}

// cacheDir is where compiled programs are kept; empty if nowhere.
func cacheDir(none bool) string {
	if none {
		return ""
	}
	return programs.CacheDir()
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
	return strings.Replace(command, " --tier live", "", 1) + " --lock " + shell.Quote(l.command)
}
