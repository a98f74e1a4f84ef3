//go:build linux

// Command bench compares the speed of package redlock with that of its peers, on redis-server processes of its own, and
// writes a page with tables and charts:
//
//	cd bench && go run . --out ../docs/speed.md
//
// It is a module of its own, so that the peers stay out of the dependencies of the library. It needs Linux and redis-server
// (Debian package redis-server). A contestant is an entry in the table of contestants.go, and a condition one in conditions.go.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		stop()
		os.Exit(1)
	}
}

// settings are what the flags say.
type settings struct {
	out      string
	quick    bool
	only     string
	rounds   int
	duration time.Duration
	held     int
	renewing time.Duration
}

func command() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Compare the speed of redlock with its peers, and write a page about it",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SilenceUsage = true
			if s.quick {
				s.shorten(cmd.Flags())
			}
			return run(cmd, s)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&s.out, "out", "../docs/speed.md", "the page; its charts go into the folder of the same name")
	flags.BoolVar(&s.quick, "quick", false, "rough figures in less than two minutes; what other flags say counts more")
	flags.StringVar(&s.only, "only", "", "measure only what matches this regular expression, as in \"healthy/uncontended/64/redsync\" or \"renewal/redlock\"")
	flags.IntVar(&s.rounds, "rounds", 5, "how often everything is measured")
	flags.DurationVar(&s.duration, "duration", time.Second, "how long each figure is measured in each round")
	flags.IntVar(&s.held, "held", 10_000, "how many locks are held and renewed")
	flags.DurationVar(&s.renewing, "renewing", 2*ttl, "how long renewal is measured")
	return cmd
}

// shorten sets what no flag has set for a quick run.
func (s *settings) shorten(flags *pflag.FlagSet) {
	if !flags.Changed("rounds") {
		s.rounds = 1
	}
	if !flags.Changed("duration") {
		s.duration = 150 * time.Millisecond
	}
	if !flags.Changed("held") {
		s.held = 1000
	}
	if !flags.Changed("renewing") {
		s.renewing = renewEvery
	}
}

func (s *settings) check() (*regexp.Regexp, error) {
	switch {
	case s.rounds < 1:
		return nil, fmt.Errorf("--rounds %d: must be positive", s.rounds)
	case s.duration <= 0:
		return nil, fmt.Errorf("--duration %v: must be positive", s.duration)
	case s.held < 1:
		return nil, fmt.Errorf("--held %d: must be positive", s.held)
	case s.renewing < renewEvery:
		return nil, fmt.Errorf("--renewing %v: shorter than the time between two renewals, %v", s.renewing, renewEvery)
	}
	only, err := regexp.Compile(s.only)
	if err != nil {
		return nil, fmt.Errorf("--only %q: %w", s.only, err)
	}
	return only, nil
}

// choice is what is measured: cells, and contestants that keep locks renewed.
type choice struct {
	cells   []cell
	holders []*contestant
}

func (s *settings) choose() (c choice, err error) {
	only, err := s.check()
	if err != nil {
		return c, err
	}
	for _, x := range cells() {
		if only.MatchString(x.String()) && !(s.quick && x.isLengthy()) {
			c.cells = append(c.cells, x)
		}
	}
	for i := range contestants {
		if who := &contestants[i]; who.renews && only.MatchString("renewal/"+who.name) {
			c.holders = append(c.holders, who)
		}
	}
	if len(c.cells)+len(c.holders) == 0 {
		return c, fmt.Errorf("--only %q: nothing matches", s.only)
	}
	return c, nil
}

func run(cmd *cobra.Command, s settings) (err error) {
	chosen, err := s.choose()
	if err != nil {
		return err
	}
	ctx := cmd.Context()
	c, err := startCluster()
	if err != nil {
		return err
	}
	defer c.close()
	defer func() {
		if ctx.Err() != nil { // what else failed, failed because of that
			err = errors.New("interrupted; no page was written")
		}
	}()
	p := &page{command: commandLine(cmd.Flags()), rounds: s.rounds, duration: s.duration, renewing: s.renewing}
	progress := func(format string, args ...any) { fmt.Fprintf(cmd.ErrOrStderr(), format+"\n", args...) }
	if err := p.measure(ctx, c, s, chosen, progress); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := p.write(s.out); err != nil {
		return err
	}
	progress("%s", s.out)
	return nil
}

// measure fills the page with the figures of what was chosen.
func (p *page) measure(ctx context.Context, c *cluster, s settings, chosen choice, progress func(string, ...any)) (err error) {
	if p.machine, err = c.machine(ctx); err != nil {
		return err
	}
	if p.traffic, err = c.traffic(ctx, chosen.cells); err != nil {
		return err
	}
	rounds := make([][]figures, s.rounds)
	for i := range rounds {
		progress("round %d of %d", i+1, s.rounds)
		if rounds[i], err = c.round(ctx, chosen.cells, i, s.duration, progress); err != nil {
			return err
		}
	}
	p.rows = rowsOf(chosen.cells, rounds)
	for _, who := range chosen.holders {
		r, err := c.renew(ctx, who, s.held, s.renewing)
		if err != nil {
			return err
		}
		progress("renewal/%s: %.3f processor seconds a second, %d lost", who.name, r.client, r.lost)
		p.renewals = append(p.renewals, r)
	}
	return nil
}

// commandLine is the command as it was given, but for where the page goes.
func commandLine(flags *pflag.FlagSet) string {
	line := "go run ."
	flags.Visit(func(f *pflag.Flag) {
		if f.Name != "out" {
			line += fmt.Sprintf(" --%s=%s", f.Name, shellWord(f.Value.String()))
		}
	})
	return line
}

// shellWord quotes what a shell would not leave as it is.
func shellWord(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,", r)
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
