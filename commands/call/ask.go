package call

import (
	"bufio"
	"fmt"
	"strings"
)

// CanAsk reports whether there is somebody to ask.
func (c *Call) CanAsk() bool {
	return !c.JSON && c.IsTerminal(c.Stdin) && c.IsTerminal(c.Stderr)
}

// Answer is one of a question's answers: the letter that gives it, and what it means.
type Answer [2]string

// Ask puts a question and returns the letter of the answer. Anything that is
// no answer is the last one, which is the one that does nothing. The error is
// the context's.
func (c *Call) Ask(question string, answers ...Answer) (string, error) {
	c.progress.end()
	fmt.Fprintln(c.Stderr, question)
	for _, a := range answers {
		fmt.Fprintf(c.Stderr, "  %s  %s\n", a[0], a[1])
	}
	fmt.Fprint(c.Stderr, "> ")
	typed := make(chan string, 1)
	// The read can't be interrupted; what it holds goes with the process.
	go func() {
		line, _ := bufio.NewReader(c.Stdin).ReadString('\n')
		typed <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-c.Context.Done():
		fmt.Fprintln(c.Stderr)
		return "", c.Context.Err()
	case line := <-typed:
		choice := answers[len(answers)-1][0]
		for _, a := range answers {
			if line == a[0] {
				return line, nil
			}
			if line != "" && strings.HasPrefix(a[1], line) {
				choice = a[0]
			}
		}
		return choice, nil
	}
}

// Confirm asks a question of yes or no; --yes answers it.
func (c *Call) Confirm(question string) (bool, error) {
	if c.Yes {
		return true, nil
	}
	letter, err := c.Ask(question, Answer{"y", "yes"}, Answer{"n", "no"})
	return letter == "y", err
}
