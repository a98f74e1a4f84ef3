package experiment

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"redlocksim/scenarios"
	"redlocksim/scenarios/protocols"
)

// Whatever the settings set a time for is drawn somewhere: exactly, just before it, and just after it.
func TestTimesAreDrawn(t *testing.T) {
	s := NewSpace(DefaultBase())
	s.Beyond = true
	drawn := map[time.Duration]int{}
	for seed := range uint64(500) {
		lengths(reflect.ValueOf(Candidate{Seed: seed}.Scenario(s).Timeline), drawn)
	}
	for _, want := range timesOf(s) {
		if drawn[want] == 0 {
			t.Errorf("%v was never drawn", want)
		}
	}
}

// lengths counts all durations in a value.
func lengths(v reflect.Value, all map[time.Duration]int) {
	if d, is := v.Interface().(time.Duration); is {
		all[d]++
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			lengths(v.Elem(), all)
		}
	case reflect.Slice:
		for i := range v.Len() {
			lengths(v.Index(i), all)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				lengths(v.Field(i), all)
			}
		}
	}
}

// The times of settings are what they set, and what follows from it.
func TestTimesOfSettings(t *testing.T) {
	base := DefaultBase()
	protocols.Change(&base.Lock, func(own *protocols.RedlockSettings) {
		own.Guard, own.WakeUp, own.LossLead = &protocols.Guard{MaxTTL: 3 * time.Second}, 10*time.Millisecond, 70*time.Millisecond
	})
	times := timesOf(Space{Base: base})
	for what, want := range map[string]time.Duration{
		"TTL": 2 * time.Second, "validity": 1978 * time.Millisecond, "end of the lease's context": 1908 * time.Millisecond,
		"last write": 1668 * time.Millisecond, "renewal": 2 * time.Second / 3, "largest TTL": 3 * time.Second,
		"node timeout": 50 * time.Millisecond, "shortest retry delay": 50 * time.Millisecond, "longest retry delay": 150 * time.Millisecond,
		"spread": 10 * time.Millisecond, "pause": 200 * time.Millisecond, "delay": 100 * time.Millisecond,
	} {
		for _, by := range []time.Duration{0, 1, -1, time.Millisecond, -time.Millisecond, 5 * time.Millisecond, -10 * time.Millisecond} {
			if want+by > 0 && !slices.Contains(times, want+by) {
				t.Errorf("%s: %v is not among the times", what, want+by)
			}
		}
	}
	if !slices.IsSorted(times) || times[0] <= 0 {
		t.Errorf("%v are not ascending and positive", times)
	}
	plain := scenarios.Default()
	plain.Lock = plain.Lock.With("setnx-expire") // it allows for no drift
	if !slices.Contains(timesOf(Space{Base: &plain}), plain.Lock.TTL) {
		t.Error("the TTL of a lock without an allowance is not among the times")
	}
	// Somebody's lock has no context that ends before the lease, as far as anybody knows.
	if context, lease := ends(Space{Base: base, Foreign: &scenarios.Foreign{}}); context != lease {
		t.Errorf("the context of somebody's lease ends after %v, the lease after %v", context, lease)
	}
}
