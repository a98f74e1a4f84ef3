package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"redlocksim/search/experiment"
)

// span is the values that a flag takes, both ends included. Durations are in nanoseconds.
type span struct{ from, to int64 }

// maxJobs bounds what runs at a time, far above what helps on any machine.
const maxJobs = 1024

const (
	day  = 24 * time.Hour
	year = 365 * day
)

func lasting(from, to time.Duration) span { return span{int64(from), int64(to)} }

// ranges is what every numeric flag of every command takes; a seed is any number that fits.
var ranges = map[string]span{
	"audit --show":         {1, 100},
	"check --clock-error":  lasting(0, day),
	"check --lease":        lasting(1, 100*year),
	"explore --clients":    {experiment.MinClients, experiment.MaxClients},
	"explore --duration":   lasting(experiment.MinDuration, experiment.MaxDuration),
	"explore --for":        lasting(time.Millisecond, year),
	"explore --generation": {1, 1_000_000},
	"explore --jobs":       {0, maxJobs},
	"explore --late":       {-1, 1000},
	"explore --limit":      {0, 1_000_000_000},
	"explore --seeds":      {1, 1_000_000_000},
	"keys --timeout":       lasting(time.Millisecond, time.Hour),
	"locks --at-once":      {1, 100},
	"run --variant":        {1, 1000},
	"sweep --jobs":         {0, maxJobs},
	"work --jobs":          {0, maxJobs},
}

// isNumeric says whether a flag takes a number or a duration that needs a range.
func isNumeric(f *pflag.Flag) bool {
	switch f.Value.Type() {
	case "int", "int64", "uint", "float64", "duration":
		return true
	}
	return false
}

// limitFlags has every numeric flag refuse what is outside its range.
func limitFlags(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if within, ok := ranges[cmd.Name()+" --"+f.Name]; ok && isNumeric(f) {
				f.Value = &limited{f.Value, within}
			}
		})
	}
}

// limited is the value of a flag that takes only a range.
type limited struct {
	pflag.Value
	within span
}

// Set implements pflag.Value.
func (l *limited) Set(text string) error {
	isDuration := l.Type() == "duration"
	var value int64
	var err error
	if isDuration {
		var d time.Duration
		d, err = time.ParseDuration(text)
		value = int64(d)
	} else {
		value, err = strconv.ParseInt(text, 0, 64)
	}
	if err == nil && (value < l.within.from || value > l.within.to) {
		return &rangeError{l.text(l.within.from), l.text(l.within.to)}
	}
	return l.Value.Set(text) // which says what is wrong with what cannot be read
}

// rangeError refuses a value outside its range.
type rangeError struct{ from, to string }

func (e *rangeError) Error() string { return fmt.Sprintf("must be from %s to %s", e.from, e.to) }

func (l *limited) text(value int64) string {
	switch d := time.Duration(value); {
	case l.Type() != "duration":
		return strconv.FormatInt(value, 10)
	case d >= 2*day:
		return fmt.Sprintf("%dh", int64(d/time.Hour))
	default:
		return d.String()
	}
}
