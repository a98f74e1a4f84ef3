package main

import (
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"redlocksim/checker/foreign"
	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
	"redlocksim/search/sweep"
	"redlocksim/sim/redis"
)

// addCompletions has shells complete the arguments and flags of all commands: names of scenarios, words of flags, and
// files only where files are meant.
func addCompletions(root *cobra.Command) {
	presets, _ := sweep.Presets()
	arguments := map[string]cobra.CompletionFunc{
		"run": oneScenarioAnd(), "explore": oneScenarioAnd(), "sweep": oneScenarioAnd(presets...),
		"suite": completeScenarios, "schema": fixedWords("scenario", "suite"), "lint": yamlFiles, "new": yamlFiles,
		"list": fixedWords(), "version": fixedWords(), "keys": fixedWords(),
	}
	enumerations := map[string][]string{
		"tier": texts(append(scenarios.Tiers(), scenarios.Live)), "persistence": strictyaml.WordsOf(reflect.TypeFor[redis.Persistence]()),
		"format": texts(foreign.Formats()), "group-by": texts(foreign.Groupings()),
		"model": texts(foreign.Models()), "unit": timeUnits,
	}
	for _, cmd := range root.Commands() {
		if f, ok := arguments[cmd.Name()]; ok {
			cmd.ValidArgsFunction = f
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			var complete cobra.CompletionFunc
			switch {
			case enumerations[f.Name] != nil:
				complete = fixedWords(enumerations[f.Name]...)
			case f.Name == "case":
				complete = completeCases
			case f.Name == "scenario":
				complete = oneScenarioAnd()
			case f.Name == "dir":
				complete = directories
			case f.Name == "settings" && f.Value.Type() == "string":
				complete = yamlFiles
			case !strings.Contains(f.Usage, "this file"):
				complete = fixedWords()
			default:
				return
			}
			// The only error is that of a flag that has one already, and none has.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, complete)
		})
	}
}

// texts are the words of an enumeration.
func texts[T ~string](values []T) (all []string) {
	for _, v := range values {
		all = append(all, string(v))
	}
	return all
}

// fixedWords completes one of some words, and no files.
func fixedWords(all ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp)
}

func directories(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func yamlFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
}

// completeScenarios completes names of embedded scenarios, with their titles, and scenario files.
func completeScenarios(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	titles := map[string]string{}
	for _, s := range scenarios.Catalogue() {
		if strings.HasPrefix(s.Name, start) {
			titles[s.Name] = s.Title
		}
	}
	var found []string
	for _, name := range slices.Sorted(maps.Keys(titles)) {
		found = append(found, cobra.CompletionWithDesc(name, titles[name]))
	}
	files, _ := filepath.Glob(start + "*") // a pattern that is none has no files
	for _, f := range files {
		switch filepath.Ext(f) {
		case ".yaml", ".yml":
			found = append(found, f)
		}
	}
	if found == nil {
		return nil, cobra.ShellCompDirectiveDefault // which goes into directories
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// oneScenarioAnd completes one scenario or one of some other words.
func oneScenarioAnd(others ...string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var found []string
		for _, w := range others {
			if strings.HasPrefix(w, start) {
				found = append(found, w)
			}
		}
		more, directive := completeScenarios(cmd, args, start)
		if found == nil {
			return more, directive
		}
		return append(found, more...), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeCases completes the cases of the scenario that is named already.
func completeCases(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found, _, err := find(args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for _, s := range found {
		if name := caseOf(s); name != "" {
			names = append(names, cobra.CompletionWithDesc(name, s.Title))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
