// Command says answers each line that it is given with one of its arguments, in turn. A semicolon begins another line.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	for _, answer := range os.Args[1:] {
		if in.Scan() {
			fmt.Print(strings.ReplaceAll(answer, ";", "\n") + "\n")
		}
	}
	for in.Scan() {
	}
}
