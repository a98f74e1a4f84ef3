package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"redlocksim/internal/strictyaml"
	"redlocksim/scenarios"
)

// find is the scenarios that an argument names: an embedded one, all cases of an embedded file, or those of a file.
func find(arg string) (found []*scenarios.Scenario, isFile bool, err error) {
	var names []string
	for _, s := range scenarios.Catalogue() {
		if s.Name == arg || strings.HasPrefix(s.Name, arg+"/") {
			found = append(found, s)
		}
		names = append(names, s.Name)
	}
	if found != nil {
		return found, false, nil
	}
	looksLikeFile := filepath.Ext(arg) == ".yaml" || filepath.Ext(arg) == ".yml"
	if _, err := os.Stat(arg); err != nil && !looksLikeFile {
		text := fmt.Sprintf("there is no scenario %q, and no such file", arg)
		if near, ok := strictyaml.Nearest(arg, names); ok {
			text += fmt.Sprintf("; did you mean %q?", near)
		}
		return nil, false, &failure{exitUsage, errors.New(text + " (redlocksim list shows all)")}
	}
	found, err = scenarios.Load(arg)
	if err != nil {
		return nil, true, &failure{exitUsage, err}
	}
	return found, true, nil
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
	text := fmt.Sprintf("--case: there is no case %q", name)
	if near, ok := strictyaml.Nearest(name, names); ok {
		text += fmt.Sprintf("; did you mean %q?", near)
	}
	return nil, &failure{exitUsage, errors.New(text)}
}

// filter is the embedded scenarios whose names match a regular expression.
func filter(expression string) ([]*scenarios.Scenario, error) {
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, &failure{exitUsage, fmt.Errorf("--filter: %w", err)}
	}
	var found []*scenarios.Scenario
	for _, s := range scenarios.Catalogue() {
		if re.MatchString(s.Name) {
			found = append(found, s)
		}
	}
	if found == nil {
		return nil, &failure{exitUsage, fmt.Errorf("--filter: no scenario's name matches %q (redlocksim list shows all)", expression)}
	}
	return found, nil
}

// tiers reads a --tier flag; empty stands for the given ones.
func tiers(flag string, fallback ...scenarios.Tier) ([]scenarios.Tier, error) {
	if flag == "" {
		return fallback, nil
	}
	if flag == string(scenarios.Live) {
		return []scenarios.Tier{scenarios.Live}, nil
	}
	var t scenarios.Tier
	if err := t.UnmarshalScalar(flag); err != nil {
		return nil, &failure{exitUsage, fmt.Errorf("--tier: %w; there are model, wire and live", err)}
	}
	return []scenarios.Tier{t}, nil
}

// repeatCommand is the command line that makes the run again; arg is what the user named it by.
func repeatCommand(arg string, isFile bool, r *scenarios.Result) string {
	if !isFile {
		arg = r.Scenario.Name
	} else if _, name, ok := strings.Cut(r.Scenario.Name, "/"); ok {
		arg += " --case " + name
	}
	return fmt.Sprintf("redlocksim run %s --tier %s --seed %d", arg, r.Tier, r.Seed)
}
