//go:build linux

package messages

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"redlocksim/internal/faketime"
)

// Serve is all that a client process does: it reads orders from in and writes what happens to out, until in ends. begin
// carries out the first order and returns what carries out the others. An error is also written to out.
func Serve(in io.Reader, out io.Writer, begin func(first Order, notices *Writer) (obey func(Order), err error)) error {
	notices := &Writer{out: json.NewEncoder(out)}
	err := obeyAll(bufio.NewReader(in), notices, begin)
	if err != nil {
		notices.Send(Notice{Fatal: err.Error()})
	}
	return err
}

func obeyAll(lines *bufio.Reader, notices *Writer, begin func(Order, *Writer) (func(Order), error)) error {
	first, err := nextOrder(lines)
	if err != nil {
		return fmt.Errorf("live: the first order: %w", err)
	}
	obey, err := begin(first, notices)
	if err != nil {
		return err
	}
	notices.Send(Notice{Ready: true})
	for {
		o, err := nextOrder(lines)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("live: an order: %w", err)
		}
		obey(o)
	}
}

func nextOrder(lines *bufio.Reader) (o Order, err error) {
	line, err := lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &o)
	}
	return o, err
}

// Writer sends notices to the parent process.
type Writer struct {
	mu  sync.Mutex
	out *json.Encoder
}

// Send sends a notice, with the time.
func (p *Writer) Send(n Notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n.At = faketime.MachineTime()
	_ = p.out.Encode(n) // a parent that is gone reads nothing
}
