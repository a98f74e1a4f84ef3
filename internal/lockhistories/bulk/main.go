// Command bulk writes random histories of locks, and judges histories by the thousand, to compare this checker with
// another.
//
//	go run ./internal/lockhistories/bulk draw -model lease -count 500000 -seed 1 > histories.jsonl
//	go run ./internal/lockhistories/bulk judge -model lease < histories.jsonl > verdicts.txt
//
// A line of histories is one history, a JSON array of operations, which is also a file that redlocksim check takes (with
// --lease 6ns and --unit ns). A line of verdicts is good, bad, or "error: " and why there is none.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"redlocksim/checker/foreign"
	"redlocksim/internal/lockhistories"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bulk:", err)
		os.Exit(2)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) == 0 || args[0] != "draw" && args[0] != "judge" {
		return fmt.Errorf("say draw or judge")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	model := flags.String("model", "", "the kind of lock")
	count := flags.Int("count", 1000, "how many histories to draw")
	seed := flags.Uint64("seed", 0, "the same seed draws the same histories")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	o := foreign.Options{Model: foreign.Model(*model)}
	switch {
	case o.Model == lockhistories.FencedLease:
		o.Model, o.Lease = foreign.Fenced, lockhistories.Lease
	case !slices.Contains(foreign.Models(), o.Model):
		return fmt.Errorf("there is no model %q, only %v and %s", *model, foreign.Models(), lockhistories.FencedLease)
	case o.Model == foreign.Lease:
		o.Lease = lockhistories.Lease
	}
	o.Unit = time.Nanosecond
	buffered := bufio.NewWriter(out)
	var err error
	if args[0] == "draw" {
		err = draw(buffered, *model, *count, *seed)
	} else {
		err = judge(in, buffered, o)
	}
	if err != nil {
		return err
	}
	return buffered.Flush()
}

// draw writes histories; each is a function of the seed and its number.
func draw(out io.Writer, model string, count int, seed uint64) error {
	for i := range count {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		history := lockhistories.Draw(model, func(n int, _ string) int { return random.IntN(n) })
		line, err := json.Marshal(history)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, "%s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// judge writes the verdict on every history.
func judge(in io.Reader, out io.Writer, o foreign.Options) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		verdict := "bad"
		switch r, err := foreign.Check(strings.NewReader(lines.Text()), o); {
		case err != nil:
			verdict = "error: " + err.Error()
		case r.Good():
			verdict = "good"
		}
		if _, err := fmt.Fprintln(out, verdict); err != nil {
			return err
		}
	}
	return lines.Err()
}
