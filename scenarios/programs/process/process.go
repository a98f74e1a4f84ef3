//go:build unix

// Package process is lock programs as processes of the operating system: any executable that speaks the lines of package
// lockprogram on its standard input and output.
package process

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"time"

	"redlocksim/internal/child"
	"redlocksim/lockprogram/lines"
	"redlocksim/scenarios"
	"redlocksim/scenarios/programs"
)

// Process is a lock program that runs.
type Process struct {
	*child.Process
	in *os.File
}

// maxLine is the length of the longest line that is read, and maxOutput that of all of them, in bytes.
const (
	maxLine   = 1 << 20
	maxOutput = 64 << 20
)

// Start starts a program: hear is called with each line that it writes, and then gone with why it writes no more. It is in a
// process group of its own, and does not outlive this process.
func Start(command []string, hear func(line []byte), gone func(why string)) (*Process, error) {
	return start(command, maxLine, maxOutput, hear, gone)
}

// StartOwn is Start for a program of ours that passes on what a lock program writes, in lines of JSON, which has six bytes for
// some of one.
func StartOwn(command []string, hear func(line []byte), gone func(why string)) (*Process, error) {
	return start(command, 8*maxLine, math.MaxInt, hear, gone)
}

func start(command []string, maxLine, maxOutput int, hear func(line []byte), gone func(why string)) (*Process, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirIn.Close(), in.Close())
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	p, err := child.Start(child.InOwnGroup(cmd))
	err = errors.Join(err, theirIn.Close(), theirOut.Close())
	if err != nil {
		return nil, errors.Join(err, in.Close(), out.Close())
	}
	go func() {
		defer out.Close()
		text := bufio.NewScanner(out)
		text.Buffer(nil, maxLine)
		written := 0
		for text.Scan() {
			if written += len(text.Bytes()) + 1; written > maxOutput {
				gone(fmt.Sprintf("it has written more than %d bytes to its standard output", maxOutput))
				return
			}
			hear(text.Bytes())
		}
		switch err := text.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			gone(fmt.Sprintf("it has written a line longer than %d bytes", maxLine))
			return
		case err != nil:
			gone(fmt.Sprintf("it has written what cannot be read: %v", err))
			return
		}
		<-p.Exited()
		gone(fmt.Sprintf("it has ended: %s\n%s", p.Status(), p.Output()))
	}()
	return &Process{p, in}, nil
}

// Tell writes a line to its standard input. One that has ended reads nothing, which gone is told of.
func (p *Process) Tell(line []byte) { _, _ = p.in.Write(append(line[:len(line):len(line)], '\n')) }

// Close ends it.
func (p *Process) Close() {
	p.Kill()
	_ = p.in.Close() // nothing was lost in it
}

// patience is how long a program may take to say what it is.
const patience = 20 * time.Second

// Ask starts a program to ask what it is, with nodes that nobody answers at, and ends it.
func Ask(ctx context.Context, command []string) (*programs.About, error) {
	answers, ended := make(chan []byte, 1), make(chan string, 1)
	p, err := Start(command, func(line []byte) {
		if len(bytes.TrimSpace(line)) == 0 {
			return
		}
		select {
		case answers <- append([]byte(nil), line...):
		default: // the first says it
		}
	}, func(why string) { ended <- why })
	if err != nil {
		return nil, err
	}
	defer p.Close()
	s := scenarios.Default().Lock
	asked, err := json.Marshal(lines.Request{Type: lines.RequestInit, ID: 1, Init: &lines.Init{Name: "about", Nodes: []string{"127.0.0.1:1"},
		TTL: float64(s.TTL.Milliseconds()), NodeTimeout: float64(s.NodeTimeout.Milliseconds())}})
	if err != nil {
		return nil, err
	}
	p.Tell(asked)
	select {
	case line := <-answers:
		return programs.ParseAbout(line)
	case why := <-ended:
		return nil, errors.New(why)
	case <-time.After(patience):
		return nil, fmt.Errorf("it is not ready %v after it was told to init", patience)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
