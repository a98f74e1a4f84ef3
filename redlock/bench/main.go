//go:build unix

// Command bench measures what a lock costs that several clients want, with package redlock and with its peers, on redis-server
// processes of its own, and writes the tables of docs/speed.md. Its benchmarks measure locks that nobody else wants:
//
//	go run . --json contention.jsonl
//	go test -bench . -run '^$' | tee speed.txt
//
// It is a module of its own, so that the peers stay out of the dependencies of the library. A contestant is an entry of the
// table contestants, and a condition one of conditions.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"syscall"

	"github.com/redis/go-redis/v9/logging"
	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	logging.Disable() // go-redis would tell every failed dial; the errors have what matters
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command runs the command and says what it exits with.
func command(ctx context.Context, args []string, stdout, stderr io.Writer) (code int) {
	err := run(ctx, args, stdout, stderr)
	switch {
	case err == nil || errors.Is(err, pflag.ErrHelp):
		return 0
	case ctx.Err() != nil:
		err = errors.New("interrupted: the same command goes on after the last cell in its file")
	}
	fmt.Fprintln(stderr, err)
	if errors.Is(err, errDoubled) {
		return 1
	}
	return 2
}

// run measures the cells that a file does not have yet, and writes the tables.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := pflag.NewFlagSet("bench", pflag.ContinueOnError)
	flags.SetOutput(stdout)
	only := flags.String("only", "", "regular expression: measure only such cells, as in 'on=healthy/work=2ms/contenders=8/with=redlock$'")
	rounds := flags.Int("rounds", 5, "how often each cell is measured")
	kept := flags.String("json", "", "file that keeps each finished cell; what it has is not measured again")
	page := flags.String("markdown", "", "page to write the tables into, of what the file has; nothing is measured")
	if err := flags.Parse(args); err != nil {
		return err
	}
	pattern, err := regexp.Compile(*only)
	plan := slices.DeleteFunc(cells(), func(c cell) bool { return err == nil && !pattern.MatchString(c.String()) })
	switch {
	case err != nil:
		return fmt.Errorf("--only: %w", err)
	case flags.NArg() > 0:
		return fmt.Errorf("%q is no flag", flags.Arg(0))
	case *rounds < 1:
		return fmt.Errorf("--rounds: %d is less than 1", *rounds)
	case *page != "" && *kept == "":
		return errors.New("--markdown needs --json, the file that has the figures")
	case len(plan) == 0:
		return fmt.Errorf("--only: no cell is like %q; one is %s", *only, cells()[0])
	}
	all, err := readResults(*kept)
	if err == nil && *page == "" {
		all, err = measure(ctx, plan, *rounds, all, *kept, stderr)
	}
	if err != nil {
		return err
	}
	tables, err := all.tables(plan, *rounds)
	switch {
	case err != nil:
		return err
	case *page != "":
		return replaceTables(*page, tables)
	}
	_, err = io.WriteString(stdout, tables)
	return err
}

// measure adds what results do not have yet, and writes their file with each cell. In a round the contestants of one kind of
// cell come one after the other, in random order.
func measure(ctx context.Context, plan []cell, rounds int, all results, kept string, progress io.Writer) (results, error) {
	if err := all.write(kept); err != nil { // while nothing is lost
		return all, err
	}
	c, err := startCluster()
	if err != nil {
		return all, err
	}
	defer c.close()
	for round := 1; round <= rounds; round++ {
		todo := slices.DeleteFunc(slices.Clone(plan), func(of cell) bool { return all.find(round, of) != nil })
		rand.Shuffle(len(todo), func(i, j int) { todo[i], todo[j] = todo[j], todo[i] })
		slices.SortStableFunc(todo, func(a, b cell) int {
			return cmp.Or(cmp.Compare(a.On, b.On), cmp.Compare(a.Work, b.Work), cmp.Compare(a.Contenders, b.Contenders))
		})
		for _, of := range todo {
			r, err := c.contend(ctx, of, of.contestant(), of.share())
			if err != nil {
				return all, err
			}
			r.Round = round
			all = append(all, *r)
			fmt.Fprintf(progress, "round %d: %v: %s%s\n", round, of, all.summary(of, round, round), r.shortfall())
			if err := cmp.Or(all.write(kept), r.check()); err != nil {
				return all, err
			}
		}
	}
	return all, nil
}
