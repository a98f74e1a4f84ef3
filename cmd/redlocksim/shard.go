package main

import (
	"fmt"
	"strconv"
	"strings"
)

// parseShard reads i/n: the index of the part, from 0, and how many there are. Empty is all of it, one of one.
func parseShard(text string) (part, of int, err error) {
	if text == "" {
		return 0, 1, nil
	}
	i, n, ok := strings.Cut(text, "/")
	part, err1 := strconv.Atoi(i)
	of, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || part < 1 || part > of {
		return 0, 0, &failure{exitUsage, fmt.Errorf("--shard %q: want i/n with i from 1 to n, as in 2/8", text)}
	}
	return part - 1, of, nil
}
