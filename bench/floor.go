//go:build linux

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const aboutFloor = `
## How far the floor is

Where client and servers keep all processors busy, only less work makes a lock faster. Below is the processor time of each lock,
client and servers together, with how many times that is what *%s* take under the same load; what is above 1 is what a library
adds: goroutines and timers, contexts, validity, encoding and decoding, connections that may break. With one caller there are no
batches, and most of the time is that of the system calls: one write and one read for each server and command.

A profile of the library with 512 callers (November 2026) is flat, with no function above 7 %%. Of the client's time, more than a
quarter is allocation and collection: some 40 objects a lock, two fifths of their bytes the five commands of a round, which are not
used again since one that is late may still be on its way. A sixth is go-redis, an eighth timers and clock readings.

`

// floor writes how much more processor time than the floor the contestants with as many servers take.
func (p *page) floor(b *strings.Builder) {
	var rows []row
	least := map[compared]row{}
	for _, r := range p.rows {
		switch {
		case r.rounds == 0 || r.contended || !r.condition.isHealthy():
		case r.contestant.floor:
			least[r.group()] = r
		case r.contestant.servers == clusterSize:
			rows = append(rows, r)
		}
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { _, is := least[r.group()]; return !is })
	if len(rows) == 0 {
		return
	}
	fmt.Fprintf(b, aboutFloor, least[rows[0].group()].contestant.name)
	table(b, []string{"in parallel", "contestant", "client", "servers", "together", "client, times", "servers, times", "together, times"}, len(rows), func(i int) []string {
		r := rows[i]
		f := least[r.group()]
		together := r.clientCPU + r.serverCPU
		return []string{strconv.Itoa(r.parallel), r.contestant.name, trim(r.clientCPU, 1), trim(r.serverCPU, 1), trim(together, 1),
			trim(r.clientCPU/f.clientCPU, 2), trim(r.serverCPU/f.serverCPU, 2), trim(together/(f.clientCPU+f.serverCPU), 2)}
	}, 0, 2, 3, 4, 5, 6, 7)
}
