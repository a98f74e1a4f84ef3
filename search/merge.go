package search

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/axiomhq/hyperloglog"

	"redlocksim/internal/input"
	"redlocksim/internal/outfile"
	"redlocksim/internal/strictyaml"
)

// Merge adds up what all shards of one search have found, in their directories, and copies the files of its findings to
// dir, which it makes. A shard that is missing or that has not made all its runs is an error that matches ErrState; what cannot
// or may not be written is one of package outfile. The shards are inputs, which no rules allow to replace.
func Merge(dir string, rules outfile.Rules, shards ...string) (*Summary, error) {
	rules.Inputs = append(slices.Clip(rules.Inputs), shards...)
	var all []*state
	for _, from := range shards {
		st, err := load(from)
		if err != nil {
			return nil, err
		}
		all = append(all, st)
	}
	if err := whole(all, shards); err != nil {
		return nil, err
	}
	unlock, err := NewDir(dir, rules)
	if err != nil {
		return nil, err
	}
	defer unlock()
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(all[a].Shard, all[b].Shard) })
	sum := &state{Search: all[0].Search, orders: hyperloglog.NewNoSparse()}
	sum.Search.Shards = 1
	for _, i := range order {
		if err := sum.include(all[i], shards[i], dir, rules); err != nil {
			return nil, err
		}
	}
	return &sum.Summary, sum.write(dir, rules)
}

// whole says whether the states are all shards of one search, each of them at its end.
func whole(all []*state, dirs []string) error {
	if len(all) == 0 {
		return fmt.Errorf("%w: there is nothing to merge", ErrState)
	}
	seen := map[int]string{}
	for i, st := range all {
		if st.Search != all[0].Search {
			return fmt.Errorf("%w: %s and %s hold different searches (%s)", ErrState, dirs[0], dirs[i], all[0].difference(st))
		}
		if twin, ok := seen[st.Shard]; ok {
			return fmt.Errorf("%w: %s and %s hold the same shard, number %d", ErrState, twin, dirs[i], st.Shard+1)
		}
		seen[st.Shard] = dirs[i]
		if n := st.Search.share(st.Shard); st.Summary.Runs < n || len(st.Pending) > 0 {
			return fmt.Errorf("%w: the search in %s is not finished (%d of %d runs); resume it", ErrState, dirs[i], st.Summary.Runs, n)
		}
	}
	if n := all[0].Search.Shards; len(all) != n {
		return fmt.Errorf("%w: there are %d of %d shards", ErrState, len(all), n)
	}
	return nil
}

// include adds what a shard has found to what others have.
func (st *state) include(shard *state, from, dir string, rules outfile.Rules) error {
	s, other := &st.Summary, &shard.Summary
	s.Runs += other.Runs
	s.Virtual += other.Virtual
	s.Grants += other.Grants
	s.NotTested += other.NotTested
	s.Beyond += other.Beyond
	s.BeyondViolations += other.BeyondViolations
	s.Violations += other.Violations
	s.Repeated += other.Repeated
	s.Canaries += other.Canaries
	s.Unshrunk += other.Unshrunk
	s.Tally.Merge(other.Tally)
	if n := other.Narrowest; n != nil && (s.Narrowest == nil || n.Slack() < s.Narrowest.Slack()) {
		s.Narrowest = n
	}
	if err := st.orders.Merge(shard.orders); err != nil {
		return fmt.Errorf("%w: %w", ErrState, err)
	}
	s.Orders = st.orders.Estimate()
	for _, f := range other.Findings {
		if known := s.explains(f.Kind, f.Families, f.Beyond); known != 0 {
			s.Findings[known-1].Times += f.Times
			continue
		}
		was := f.File
		f.File = f.name(len(s.Findings)+1) + ".yaml"
		for _, name := range []func(string) string{asIs, testFile} {
			data, err := input.ReadFile(filepath.Join(from, name(was)), strictyaml.MaxBytes)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrState, err)
			}
			if err := rules.Write(filepath.Join(dir, name(f.File)), data); err != nil {
				return err
			}
		}
		s.Findings = append(s.Findings, f)
	}
	return nil
}
