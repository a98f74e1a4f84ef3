// Command says answers each line that it is given with one of its arguments, in turn.
package main

import (
	"bufio"
	"fmt"
	"os"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	for _, answer := range os.Args[1:] {
		if in.Scan() {
			fmt.Println(answer)
		}
	}
	for in.Scan() {
	}
}
