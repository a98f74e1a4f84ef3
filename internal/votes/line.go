package votes

import (
	"strings"

	"redlocksim/redlock/driver"
)

// What stands here is line.lua in Go; driver.Line says what it is for. A key of another type is no line, and nobody's turn.

func text(keys Keys, key string, now int64) string {
	k, there := keys.Get(key, now)
	if !there || k.IsOther {
		return ""
	}
	return k.Value
}

// lineOf is the line of a key: names with a space on both sides, or one space. So is what is no line.
func lineOf(keys Keys, key string, now int64) string {
	line := text(keys, driver.LineKey(key), now)
	if len(line) < 2 || line[0] != ' ' || line[len(line)-1] != ' ' {
		return " "
	}
	return line
}

func setLine(keys Keys, key, line string, now int64) {
	if line == " " {
		keys.Delete(driver.LineKey(key))
		return
	}
	keys.Set(driver.LineKey(key), line, now+driver.LineTTL.Milliseconds())
}

// isTurnOfAnother says whether an acquire from the line has to let another go first.
func isTurnOfAnother(keys Keys, c *driver.Command, key string, now int64) bool {
	if c.Line == nil {
		return false
	}
	turn := text(keys, driver.TurnKey(key), now)
	return turn != "" && turn != c.Line.Waiter
}

// join has who was declined stand in the line of each key.
func join(keys Keys, c *driver.Command, now int64) {
	for _, key := range c.Keys {
		line, waiter := lineOf(keys, key, now), c.Line.Waiter
		switch {
		case text(keys, driver.TurnKey(key), now) == waiter:
			keys.Delete(driver.TurnKey(key))
			setLine(keys, key, " "+waiter+line, now)
		case !strings.Contains(line, " "+waiter+" ") && len(line) < driver.MostInLine:
			setLine(keys, key, line+waiter+" ", now)
		}
	}
}

// stepOut takes a waiter out of a line, and reports whether it was its turn.
func stepOut(keys Keys, waiter, key string, now int64) (hadTurn bool) {
	line := lineOf(keys, key, now)
	if without := strings.Replace(line, " "+waiter+" ", " ", 1); without != line {
		setLine(keys, key, without, now)
	}
	if hadTurn = text(keys, driver.TurnKey(key), now) == waiter; hadTurn {
		keys.Delete(driver.TurnKey(key))
	}
	return hadTurn
}

// callNext tells the first in a line that listens that it is its turn. It reports whether there is one.
func callNext(keys Keys, l *driver.Line, key string, now int64) (called bool) {
	line := lineOf(keys, key, now)
	if line == " " {
		return false
	}
	for line != " " {
		waiter, rest, _ := strings.Cut(line[1:], " ")
		line = " " + rest
		if keys.Publish(driver.WakeChannel(waiter), key) > 0 {
			text(keys, driver.TurnKey(key), now) // which removes one that has expired, as SET does on a server
			keys.Set(driver.TurnKey(key), waiter, now+l.Turn.Milliseconds())
			called = true
			break
		}
	}
	setLine(keys, key, line, now)
	return called
}
