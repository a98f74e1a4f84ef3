package random

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/axiomhq/hyperloglog"

	"redlocksim/internal/input"
	"redlocksim/internal/outfile"
	"redlocksim/internal/strictyaml"
	"redlocksim/search"
)

// Merge adds up the results of all shards of one search, given by their directories, and copies the files of the findings
// to dir, which it creates. The error matches search.ErrDir if a shard is missing or has not made all its runs, and is one
// of package outfile if a file cannot or must not be written. No rules allow replacing the shards, which are inputs.
func Merge(dir string, rules outfile.Rules, shards ...string) (*Summary, error) {
	rules.Inputs = append(slices.Clip(rules.Inputs), shards...)
	var all []*checkpoint
	for _, from := range shards {
		c, err := load(from)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	if err := whole(all, shards); err != nil {
		return nil, err
	}
	unlock, err := search.NewDir(dir, rules)
	if err != nil {
		return nil, err
	}
	defer unlock()
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(all[a].Shard, all[b].Shard) })
	sum := &checkpoint{Search: all[0].Search, Visits: newVisits(), Worded: newWorded(), orders: hyperloglog.NewNoSparse()}
	sum.Search.Shards = 1
	for _, i := range order {
		if err := sum.include(all[i], shards[i], dir, rules); err != nil {
			return nil, err
		}
	}
	return &sum.Summary, sum.write(dir, rules)
}

// whole checks that these are all shards of one search, each of them finished.
func whole(all []*checkpoint, dirs []string) error {
	if len(all) == 0 {
		return fmt.Errorf("%w: there is nothing to merge", search.ErrDir)
	}
	seen := map[int]string{}
	for i, c := range all {
		if c.Search != all[0].Search {
			return fmt.Errorf("%w: %s and %s hold different searches (%s)", search.ErrDir, dirs[0], dirs[i], all[0].difference(c))
		}
		if twin, ok := seen[c.Shard]; ok {
			return fmt.Errorf("%w: %s and %s hold the same shard, number %d", search.ErrDir, twin, dirs[i], c.Shard+1)
		}
		seen[c.Shard] = dirs[i]
		if n := c.Search.share(c.Shard); c.Summary.Runs < n || len(c.Pending) > 0 {
			return fmt.Errorf("%w: the search in %s is not finished (%d of %d runs); resume it", search.ErrDir, dirs[i], c.Summary.Runs, n)
		}
	}
	if n := all[0].Search.Shards; len(all) != n {
		return fmt.Errorf("%w: there are %d of %d shards", search.ErrDir, len(all), n)
	}
	return nil
}

// include adds the results of a shard.
func (c *checkpoint) include(shard *checkpoint, from, dir string, rules outfile.Rules) error {
	s, other := &c.Summary, &shard.Summary
	s.Runs += other.Runs
	s.Virtual += other.Virtual
	s.Grants += other.Grants
	s.NotTested += other.NotTested
	s.Beyond += other.Beyond
	s.BeyondViolations += other.BeyondViolations
	s.Violations += other.Violations
	s.Repeated += other.Repeated
	s.OnWire += other.OnWire
	s.Canaries += other.Canaries
	s.Unshrunk += other.Unshrunk
	s.Tally.Merge(other.Tally)
	if n := other.Narrowest; n != nil && (s.Narrowest == nil || n.Slack() < s.Narrowest.Slack()) {
		s.Narrowest = n
	}
	if err := c.orders.Merge(shard.orders); err != nil {
		return fmt.Errorf("%w: %w", search.ErrDir, err)
	}
	s.Orders = c.orders.Estimate()
	c.Visits.merge(shard.Visits)
	c.Worded.merge(shard.Worded)
	s.States, s.NewStates, s.NewIn = c.Visits.seen(), s.NewStates+other.NewStates, s.NewIn+other.NewIn
	if err := s.Failures.Include(other.Failures, from, dir, rules); err != nil {
		return err
	}
	for _, f := range other.Findings {
		if known := f.ExplainedBy(s.Findings); known != 0 {
			s.Findings[known-1].Times += f.Times
			continue
		}
		was := f.File
		f.File = f.FileName(len(s.Findings) + 1)
		for _, name := range [][2]string{{was, f.File}, {search.TestFile(was), search.TestFile(f.File)}} {
			data, err := input.ReadFile(filepath.Join(from, name[0]), strictyaml.MaxBytes)
			if err != nil {
				return fmt.Errorf("%w: %w", search.ErrDir, err)
			}
			if err := rules.Write(filepath.Join(dir, name[1]), data); err != nil {
				return err
			}
		}
		s.Findings = append(s.Findings, f)
	}
	return nil
}
