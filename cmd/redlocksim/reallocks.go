package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"redlocksim/live"
	"redlocksim/locks"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs/process"
	"redlocksim/scenarios/protocols"
)

// realLocks are the lock programs that are, on real servers, the protocols whose service is a part of the simulator. Each is
// built when the first scenario needs it, from the directory locks.
type realLocks struct {
	dir    string // for what is built; empty until something is
	chosen map[protocols.Name]*realLock
}

// realLock is a program, or why there is none.
type realLock struct {
	*lockFlags
	err error
}

// of is the program that is the protocol of a scenario. The error says why there is none here.
func (r *realLocks) of(ctx context.Context, s *scenarios.Scenario) (*lockFlags, error) {
	protocol := s.Lock.Protocol
	if r.chosen[protocol] == nil {
		if r.chosen == nil {
			r.chosen = map[protocols.Name]*realLock{}
		}
		x := &realLock{}
		x.lockFlags, x.err = r.build(ctx, protocol)
		r.chosen[protocol] = x
	}
	x := r.chosen[protocol]
	if x.err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, x.err)
	}
	return x.lockFlags, nil
}

// locksDir is where the locks are in the project's directory.
const locksDir = "locks"

func (r *realLocks) build(ctx context.Context, protocol protocols.Name) (*lockFlags, error) {
	if _, err := os.Stat(locksDir); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: protocol %s takes a lock program for a real server, which is built in the project's directory; or give one with --lock",
			live.ErrUnfit, protocol)
	}
	all, err := locks.Load(locksDir)
	if err != nil {
		return nil, &failure{exitUsage, err}
	}
	for i := range all {
		l := &all[i]
		k := slices.IndexFunc(l.Settings, func(s locks.Setting) bool { return s.Protocol == protocol })
		if k < 0 {
			continue
		}
		if r.dir == "" {
			if r.dir, err = os.MkdirTemp("", "redlocksim-locks-"); err != nil {
				return nil, err
			}
		}
		file := filepath.Join(r.dir, l.Name)
		command, err := l.Native(ctx, file)
		if err != nil {
			return nil, err
		}
		args := strings.Fields(l.Settings[k].Args)
		x := &lockFlags{command: strings.Join(append(shownFrom(command, file, locksDir), args...), " "), words: append(command, args...)}
		if x.about, err = process.Ask(ctx, x.words); err != nil {
			return nil, fmt.Errorf("%s %w: %w", l.Dir, locks.ErrNotBuilt, err)
		}
		return x, nil
	}
	return nil, fmt.Errorf("%w: no lock in %s is protocol %s", live.ErrUnfit, locksDir, protocol)
}

// shownFrom is a command for people, with the file that was built in another directory.
func shownFrom(command []string, file, dir string) (shown []string) {
	for _, word := range command {
		if word == file {
			word = dir + "/" + filepath.Base(file)
		}
		shown = append(shown, word)
	}
	return shown
}

// close removes what was built.
func (r *realLocks) close() {
	if r.dir != "" {
		_ = os.RemoveAll(r.dir)
	}
}
