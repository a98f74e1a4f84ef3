//go:build linux

package client

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"redlocksim/internal/child"
)

// Serve is all that a client process does: it reads orders from in and writes what happens to out, until in ends. An error is
// also written to out.
func Serve(in io.Reader, out io.Writer) error {
	to := &notices{out: json.NewEncoder(out)}
	err := obeyAll(bufio.NewReader(in), to)
	if err != nil {
		to.send(Notice{Fatal: err.Error()})
	}
	return err
}

func obeyAll(lines *bufio.Reader, to *notices) error {
	if err := child.AdoptOrphans(); err != nil { // a lock program's stand still and end with it
		return err
	}
	first, err := nextOrder(lines)
	if err != nil || first.Begin == nil {
		return fmt.Errorf("live: the first order: not what begins: %w", err)
	}
	c, err := newClient(first.Begin, to)
	if err != nil {
		return err
	}
	to.send(Notice{Ready: true})
	for {
		o, err := nextOrder(lines)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("live: an order: %w", err)
		}
		c.obey(o)
	}
}

func nextOrder(lines *bufio.Reader) (o Order, err error) {
	line, err := lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &o)
	}
	return o, err
}
