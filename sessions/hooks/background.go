package hooks

import "github.com/umbra-vcs/umbra/sessions/jsontext"

// HasBackgroundTurn reports whether a subagent or the like still works on what
// was asked; when it is done the agent goes on by itself. A shell that was left
// running, such as a development server, is not waited for.
func HasBackgroundTurn(tasks []byte) bool {
	c := jsontext.Walk(tasks)
	for task := range c.Elements() {
		status := jsontext.Text(jsontext.Lookup(task, "status"))
		switch jsontext.Text(jsontext.Lookup(task, "type")) {
		case "shell", "monitor":
			continue
		}
		if status == "running" || status == "pending" {
			return true
		}
	}
	return false
}
