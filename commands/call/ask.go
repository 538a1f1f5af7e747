package call

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/umbra-vcs/umbra/commands/print"
)

// CanAsk reports whether there is somebody to ask.
func (c *Call) CanAsk() bool {
	return !c.JSON && c.IsTerminal(c.Stdin) && c.IsTerminal(c.Stderr)
}

// Answer is one of a question's answers: the letter that gives it, and what it means.
type Answer [2]string

// Ask puts a question and returns the letter of the answer. An empty line is the last
// answer, which is the one that does nothing. What is no answer is asked again. The error
// is the context's.
func (c *Call) Ask(question string, answers ...Answer) (string, error) {
	c.progress.end()
	fmt.Fprintln(c.Stderr, question)
	for _, a := range answers {
		fmt.Fprintf(c.Stderr, "  %s  %s\n", a[0], a[1])
	}
	lines := bufio.NewReader(c.Stdin)
	for {
		fmt.Fprint(c.Stderr, "> ")
		line, err := c.readLine(lines)
		if err != nil {
			return "", err
		}
		letter, ok := letterOf(line, answers)
		if ok {
			return letter, nil
		}
		var letters []string
		for _, a := range answers {
			letters = append(letters, a[0])
		}
		fmt.Fprintf(c.Stderr, "%s is no answer: type one of %s\n", print.Clean(line), strings.Join(letters, ", "))
	}
}

// readLine reads what is typed, "" at the end of all input. The error is the context's.
func (c *Call) readLine(lines *bufio.Reader) (string, error) {
	typed := make(chan string, 1)
	// The read can't be interrupted; what it holds goes with the process.
	go func() {
		line, _ := lines.ReadString('\n')
		typed <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-c.Context.Done():
		fmt.Fprintln(c.Stderr)
		return "", c.Context.Err()
	case line := <-typed:
		return line, nil
	}
}

// letterOf is the letter of the answer that a line gives: its letter, or how its text begins
// if no other text begins so. An empty line gives the last answer.
func letterOf(line string, answers []Answer) (letter string, ok bool) {
	if line == "" {
		return answers[len(answers)-1][0], true
	}
	begins := 0
	for _, a := range answers {
		if line == a[0] {
			return line, true
		}
		if strings.HasPrefix(strings.ToLower(a[1]), line) {
			letter, begins = a[0], begins+1
		}
	}
	return letter, begins == 1
}

// Confirm asks a question of yes or no; --yes answers it.
func (c *Call) Confirm(question string) (bool, error) {
	if c.Yes {
		return true, nil
	}
	letter, err := c.Ask(question, Answer{"y", "yes"}, Answer{"n", "no"})
	return letter == "y", err
}
