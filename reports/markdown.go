package reports

import (
	"fmt"
	"html"
	"io"
	"strings"
	"time"

	"redlocksim/internal/mark"
	"redlocksim/internal/plural"
)

// maxMarkdown is how long the page of Markdown gets: GitHub shows no summary of a step above 1 MiB.
const maxMarkdown = 900_000

// Markdown writes the cases of a job as a page for its summary: the totals, a table of what was not as expected, and its
// stories, folded.
func Markdown(w io.Writer, job *Job) error {
	cases := job.Cases
	_, bad, skipped := tally(cases)
	var b strings.Builder
	if job.Search == "" {
		writeTotals(&b, job)
	} else {
		fmt.Fprintf(&b, "%s\n## %s\n\n%s", mark.XML, inLine(job.Name), fenced(job.Search))
	}
	if bad > 0 {
		fmt.Fprintf(&b, "\n| scenario | tier | seed | expected | verdict | what is wrong |\n|---|---|--:|---|---|---|\n")
		each(&b, cases, func(c *Case) string {
			if len(c.Problems) == 0 {
				return ""
			}
			return fmt.Sprintf("| %s | %s | %d | %s | %s | %s |\n", inLine(c.Name), inLine(c.Tier), c.Seed,
				inLine(c.Hoped), inLine(c.Says), inLine(strings.Join(c.Problems, "; ")))
		})
		each(&b, cases, func(c *Case) string {
			if len(c.Problems) == 0 {
				return ""
			}
			return fmt.Sprintf("\n<details><summary>%s on %s, seed %d: %s</summary>\n\n%s\nTo repeat it:\n\n%s\n</details>\n",
				inHTML(c.Name), inHTML(c.Tier), c.Seed, inHTML(c.Title), fenced(c.Story), fenced(c.Repeat))
		})
	}
	if skipped > 0 {
		fmt.Fprintf(&b, "\n<details><summary>%d not run</summary>\n\n", skipped)
		each(&b, cases, func(c *Case) string {
			if c.Skipped == "" {
				return ""
			}
			return fmt.Sprintf("- %s: %s\n", inLine(c.Name), inLine(c.Skipped))
		})
		fmt.Fprintf(&b, "\n</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// writeTotals writes a heading with the verdict, and how many cases were run on each tier.
func writeTotals(b *strings.Builder, job *Job) {
	ran, bad, _ := tally(job.Cases)
	verdict := "all as expected"
	if bad > 0 {
		verdict = fmt.Sprintf("%d of %d not as expected", bad, ran)
	}
	fmt.Fprintf(b, "%s\n## %s: %s\n\n", mark.XML, inLine(job.Name), verdict)
	fmt.Fprintf(b, "| tier | runs | as expected | not as expected | not run |\n|---|--:|--:|--:|--:|\n")
	for _, tier := range tiersOf(job.Cases) {
		var of []Case
		for _, c := range job.Cases {
			if c.Tier == tier {
				of = append(of, c)
			}
		}
		n, not, left := tally(of)
		fmt.Fprintf(b, "| %s | %d | %d | %d | %d |\n", inLine(tier), n, n-not, not, left)
	}
	fmt.Fprintf(b, "\n%s in %v.\n", plural.Count(ran, "run"), job.Took.Round(10*time.Millisecond))
}

// each adds a text for each case, as long as there is place, and says how many are left out.
func each(b *strings.Builder, cases []Case, text func(*Case) string) {
	left := 0
	for i := range cases {
		t := text(&cases[i])
		switch {
		case t == "":
		case left > 0 || b.Len()+len(t) > maxMarkdown:
			left++
		default:
			b.WriteString(t)
		}
	}
	if left > 0 {
		fmt.Fprintf(b, "\n… and %d more, for which there is no place here.\n", left)
	}
}

// inLine is a text that Markdown shows as it is, in a line or a cell.
func inLine(text string) string { return inHTML(special.Replace(text)) }

// inHTML is a text in a line of HTML, in which Markdown means nothing.
func inHTML(text string) string { return html.EscapeString(strings.Join(strings.Fields(text), " ")) }

// special is what Markdown would take for something else. The escapes of HTML are laid over it.
var special = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`)

// fenced is a text as it is, between fences that are longer than any in it.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(text, "\n") + "\n" + fence + "\n"
}
