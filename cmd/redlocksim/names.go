package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"redlocksim/internal/plural"
	"redlocksim/internal/shell"
	"redlocksim/scenarios"
	"redlocksim/scenarios/verdict"
)

// find is the scenarios that an argument names: an embedded one, all cases of an embedded file, or those of a file.
func find(arg string) (found []*scenarios.Scenario, isFile bool, err error) {
	if found = scenarios.Named(arg); found != nil {
		return found, false, nil
	}
	looksLikeFile := filepath.Ext(arg) == ".yaml" || filepath.Ext(arg) == ".yml"
	if _, err := os.Stat(arg); err != nil && !looksLikeFile {
		var names []string
		for _, s := range scenarios.Catalogue() {
			names = append(names, s.Name)
		}
		see := "see redlocksim list"
		if n := len(about(scenarios.Catalogue(), []string{arg})); n > 0 {
			see = fmt.Sprintf("redlocksim list %s has %s about it", shell.Quote(arg), plural.Count(n, "case"))
		}
		return nil, false, &failure{exitUsage, fmt.Errorf("no scenario and no file is named %q%s (%s)", arg, meant(arg, names), see)}
	}
	found, err = scenarios.Load(arg)
	if err != nil {
		return nil, true, &failure{exitUsage, err}
	}
	return found, true, nil
}

// findCases is find, or only the case of this name if one is given.
func findCases(arg, only string) (found []*scenarios.Scenario, isFile bool, err error) {
	found, isFile, err = find(arg)
	if err == nil && only != "" {
		found, err = pick(found, only)
	}
	return found, isFile, err
}

// findOne is findCases where there must be but one.
func findOne(arg, only string) (s *scenarios.Scenario, isFile bool, err error) {
	found, isFile, err := findCases(arg, only)
	if err != nil {
		return nil, false, err
	}
	if len(found) > 1 {
		return nil, false, severalCases(arg, found)
	}
	return found[0], isFile, nil
}

// severalCases is the error for an argument that stands for several cases where one is needed.
func severalCases(arg string, found []*scenarios.Scenario) error {
	names := make([]string, len(found))
	for i, s := range found {
		names[i] = caseOf(s)
	}
	return &failure{exitUsage, fmt.Errorf("%s has %d cases, choose one with --case: %s", arg, len(found), strings.Join(names, ", "))}
}

// pick is the case of this name.
func pick(found []*scenarios.Scenario, name string) ([]*scenarios.Scenario, error) {
	var names []string
	for _, s := range found {
		_, last, _ := strings.Cut(s.Name, "/")
		if last == name {
			return []*scenarios.Scenario{s}, nil
		}
		names = append(names, last)
	}
	if len(found) == 1 && names[0] == "" {
		return nil, &failure{exitUsage, fmt.Errorf("--case: %s has no cases", found[0].Name)}
	}
	return nil, &failure{exitUsage, fmt.Errorf("--case: unknown case %q; want %s%s", name, strings.Join(names, ", "), meant(name, names))}
}

// filter is the embedded scenarios whose names match a regular expression.
func filter(expression string) ([]*scenarios.Scenario, error) {
	re, err := namePattern(expression)
	if err != nil {
		return nil, err
	}
	var found []*scenarios.Scenario
	for _, s := range scenarios.Catalogue() {
		if re.MatchString(s.Name) {
			found = append(found, s)
		}
	}
	if found == nil {
		return nil, noMatch(expression)
	}
	return found, nil
}

// about are the scenarios that have all of the words in what is said of them.
func about(all []*scenarios.Scenario, words []string) []*scenarios.Scenario {
	return slices.DeleteFunc(slices.Clone(all), func(s *scenarios.Scenario) bool {
		said := strings.ToLower(strings.Join([]string{s.Name, s.Topic, s.Title, s.Source, string(s.Theme), s.Theme.Title()}, " "))
		return slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(said, strings.ToLower(word)) })
	})
}

// namePattern is the regular expression of a --filter flag.
func namePattern(expression string) (*regexp.Regexp, error) {
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, &failure{exitUsage, fmt.Errorf("--filter: %w", err)}
	}
	return re, nil
}

// noMatch is the error for an expression that no scenario's name matches.
func noMatch(expression string) error {
	return &failure{exitUsage, fmt.Errorf("--filter: no scenario's name matches %q (see redlocksim list)", expression)}
}

// tiers reads a --tier flag; empty stands for the given ones.
func tiers(flag string, fallback ...scenarios.Tier) ([]scenarios.Tier, error) {
	if flag == "" {
		return fallback, nil
	}
	if flag == string(scenarios.Live) {
		return []scenarios.Tier{scenarios.Live}, nil
	}
	t, err := scenarios.ParseTier(flag)
	if err != nil {
		return nil, &failure{exitUsage, fmt.Errorf("--tier: %w; want model, wire or live", err)}
	}
	return []scenarios.Tier{t}, nil
}

// repeatCommand is the command line that makes the run again; arg is what the user named it by.
func repeatCommand(arg string, isFile bool, r *verdict.Result) string {
	tier := fmt.Sprintf(" --tier %s", r.Tier)
	if r.Tier == scenarios.Program {
		tier = "" // --lock implies it
	}
	return fmt.Sprintf("redlocksim run %s%s --seed %d", named(arg, isFile, r.Scenario), tier, r.Seed)
}

// named is how a command line names the scenario, one that arg stands for.
func named(arg string, isFile bool, s *scenarios.Scenario) string {
	if !isFile {
		return s.Name
	}
	if name := caseOf(s); name != "" {
		return shell.Quote(arg) + " --case " + name
	}
	return shell.Quote(arg)
}

// caseOf is the name of a scenario's case; empty if it is the only one of its file.
func caseOf(s *scenarios.Scenario) string {
	_, name, _ := strings.Cut(s.Name, "/")
	return name
}

// completeNames has shells complete names of scenarios, with their titles, beside files.
func completeNames(_ *cobra.Command, _ []string, start string) (found []string, _ cobra.ShellCompDirective) {
	for _, s := range scenarios.Catalogue() {
		if strings.HasPrefix(s.Name, start) {
			found = append(found, cobra.CompletionWithDesc(s.Name, s.Title))
		}
	}
	return found, cobra.ShellCompDirectiveDefault
}
