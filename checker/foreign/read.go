package foreign

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

func read(s *scanner, f Format, o Options) (*recording, error) {
	s.json = f == JSON
	if o.Group == "" {
		o.Group = ByNameIfAny
	}
	r := &reader{s: s, o: o, r: &recording{format: f}, index: noIndex}
	var entries []entry // to be sorted
	for {
		line, more, err := s.next()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		e, err := r.interpret(line)
		switch {
		case err == nil && o.Sort && e.kind == ofClient && !e.timed:
			err = notOperation("there is no time to sort by")
		case err == nil && o.Sort && len(entries) > 2*maxOperations:
			err = fmt.Errorf("%w: more than %d operations", ErrTooLarge, maxOperations)
		case err == nil && o.Sort:
			entries = append(entries, e)
		case err == nil:
			err = r.take(&e)
		}
		if err != nil {
			return nil, e.located(err)
		}
	}
	r.r.moved = sortByTime(entries)
	for i := range entries {
		if err := r.take(&entries[i]); err != nil {
			return nil, entries[i].located(err)
		}
	}
	if err := r.finish(); err != nil {
		return nil, err
	}
	return r.r, nil
}

// sortByTime puts the entries of clients in the order of their times, those of one time in the order in which they are,
// and returns how many stood after a later one.
func sortByTime(entries []entry) int {
	moved, latest := 0, int64(math.MinInt64)
	for i := range entries {
		if e := &entries[i]; e.kind != ofClient {
			// It has no part in the order.
			e.time = latest
		} else if e.time < latest {
			moved++
		}
		latest = max(latest, entries[i].time)
	}
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.time, b.time) })
	return moved
}
