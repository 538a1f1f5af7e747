package hooks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/agents"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/missions/userfile"
	"github.com/umbra-vcs/umbra/sessions"
)

// EnlistedServer is a server of Umbra's tools that an agent was told to add to a file of the
// agent's own.
type EnlistedServer struct {
	Agent   string   `json:"agent"`
	File    string   `json:"file"`
	Command []string `json:"command"`
	// Made says that the file was not there before.
	Made bool `json:"made,omitempty"`
}

// enlisting is one agent's own file of servers, and what is Umbra's in it. Umbra takes out
// what it had added, and nothing that a user has added, though it look the same.
type enlisting struct {
	sessions.Enlisting
	caller missions.Caller
	file   string
	added  *EnlistedServer // nil if Umbra has added none
	there  bool            // a server called umbra
	runs   []string        // its command
	plugin string          // that brings the tools
	wanted bool

	variables []string // that the agent reads
}

// findEnlisting looks at the file of servers that belongs to the user's hooks of an agent; nil
// where there is none.
func (in *Installer) findEnlisting(at HookPlace, r missions.HooksRequest) (*enlisting, error) {
	own := projects.OwnServers(at.Name())
	if own == nil || at.scope != sessions.ScopeUser {
		return nil, nil
	}
	env := projects.CallerEnv(r.Caller)
	e := &enlisting{Enlisting: own, caller: r.Caller, file: own.ServerFile(env), wanted: at.wantsServer, variables: projects.AgentVariables(in.Adapter(at.Name()))}
	if p := projects.PluginOf(e.Agent()); p != nil {
		e.plugin = p.Enabled(env, os.ReadFile)
	}
	doc, err := readHooksDoc(in.Home)
	if err != nil {
		return e, err
	}
	for _, s := range doc.Servers {
		if s.File == e.file {
			e.added = &s
		}
	}
	return e, e.look()
}

// look reads which server is there.
func (e *enlisting) look() error {
	content, err := userfile.Read(e.file)
	if err == nil {
		e.runs, e.there, err = e.EnlistedServer(content)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", e.file, err)
	}
	return nil
}

// isOurs reports whether the server that is there is the one that Umbra has added.
func (e *enlisting) isOurs() bool {
	return e.there && e.added != nil && slices.Equal(e.runs, e.added.Command)
}

// enlistServer has the agent add Umbra's tools, unless a server of that name or the plugin is
// there. Hooks are installed also where that fails: problem says why.
func (in *Installer) enlistServer(ctx context.Context, at HookPlace, r missions.HooksRequest) (changed bool, problem string) {
	e, err := in.findEnlisting(at, r)
	if e == nil || err != nil {
		return false, "" // of a file that can't be read the state tells
	}
	command := agents.ToolServer(r.Caller.Binary)
	if !e.wanted || e.plugin != "" || e.there && (!e.isOurs() || slices.Equal(e.runs, command)) || !e.hasProgram() {
		return false, ""
	}
	if e.isOurs() { // of another umbra
		if err := e.run(ctx, e.DismissServer()); err != nil {
			return false, e.failure(err)
		}
	}
	_, err = os.Lstat(e.file)
	one := EnlistedServer{Agent: e.Agent(), File: e.file, Command: command, Made: errors.Is(err, fs.ErrNotExist) || e.added != nil && e.added.Made}
	if err := in.noteEnlisted(ctx, e.file, &one); err != nil { // first: what nobody knows of nobody takes out
		return false, missions.AsError(err).Message
	}
	err = e.run(ctx, e.EnlistServer(projects.CallerEnv(r.Caller), in.Home.Dir, command))
	unread := e.look()
	if err == nil {
		err = unread
	}
	if err == nil && !slices.Equal(e.runs, command) {
		err = errors.New("it is not in " + e.file + " afterwards")
	}
	if err != nil && unread == nil && !e.there { // or what its user adds later would count as Umbra's
		err = errors.Join(err, in.noteEnlisted(ctx, e.file, nil))
	}
	if err != nil {
		return e.there, e.failure(err)
	}
	return true, ""
}

// failure is why the agent has not added the server, and what to type.
func (e *enlisting) failure(err error) string {
	return fmt.Sprintf("%s did not take Umbra's tools: %v; umbra hooks install %s tries again", e.Agent(), err, e.Agent())
}

// dismissServer has the agent take out the server that Umbra had added.
func (in *Installer) dismissServer(ctx context.Context, at HookPlace, r missions.HooksRequest) (changed bool, problem string) {
	e, err := in.findEnlisting(at, r)
	if e == nil || e.added == nil {
		return false, ""
	}
	if changed = err == nil && e.isOurs(); changed {
		if err = e.run(ctx, e.DismissServer()); err == nil {
			err = e.look()
		}
		if err == nil && e.there {
			err = errors.New("it is there afterwards")
		}
	}
	if err != nil {
		return false, fmt.Sprintf("Umbra's tools are still in %s: %v; to take them out: %s", e.file, err, e.dismissal())
	}
	if content, err := userfile.Read(e.file); err == nil && e.added.Made && content != nil && strings.TrimSpace(string(content)) == "" {
		_ = os.Remove(e.file) // an empty file that was made for the server
	}
	if err := in.noteEnlisted(ctx, e.file, nil); err != nil {
		return changed, missions.AsError(err).Message
	}
	return changed, ""
}

// dismissal is what a user types to take the server out.
func (e *enlisting) dismissal() string {
	return e.Agent() + " " + strings.Join(e.DismissServer().Args, " ")
}

// hasProgram reports whether the agent's program is there.
func (e *enlisting) hasProgram() bool { return agents.IsOnPath(e.caller.Env["PATH"], e.Agent()) }

// describeEnlisted says whether the agent has Umbra's tools by a file of its own.
func (in *Installer) describeEnlisted(at HookPlace, r missions.HooksRequest, result *missions.HooksResult) {
	e, err := in.findEnlisting(at, r)
	if e == nil {
		return
	}
	if err == nil && e.isOurs() {
		result.ToolsFile = e.file
	}
	again := "umbra hooks install " + e.Agent()
	switch {
	case !result.Installed || !e.wanted || r.Caller.Binary == "":
	case err != nil:
		result.Problems = append(result.Problems, err.Error())
	case e.isOurs() && slices.Equal(e.runs, agents.ToolServer(r.Caller.Binary)):
		result.Extras = append(result.Extras, "Umbra's tools for the agent (umbra mcp) in "+e.file)
	case e.isOurs():
		result.Problems = append(result.Problems, "Umbra's tools for the agent are those of another umbra: "+again+" changes it")
	case e.there:
		result.Extras = append(result.Extras, "your server of tools that is called umbra, as it is")
	case e.plugin != "":
		result.Extras = append(result.Extras, "Umbra's tools for the agent, by its plugin")
	case !e.hasProgram():
		result.Extras = append(result.Extras, "no tools for the agent, since "+e.Agent()+" is not in PATH; once it is: "+again)
	default:
		result.Problems = append(result.Problems, "Umbra's tools for the agent are not there: "+again+" mends it")
	}
}

// enlistPatience is how long an agent's program has to change its file of servers.
const enlistPatience = time.Minute

// run runs the agent's own program, with its user's home and path and nothing to read.
func (e *enlisting) run(ctx context.Context, c sessions.OwnCommand) error {
	path := missions.AbsolutePathList(e.caller.Env["PATH"])
	dir := e.caller.Env["HOME"]
	program, err := missions.LookPath(e.Agent(), dir, path)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, enlistPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, c.Args...)
	cmd.Dir, cmd.WaitDelay = dir, time.Second
	cmd.Env = []string{"PATH=" + path, "LANG=C.UTF-8"}
	for _, name := range append([]string{"HOME", "USER", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}, e.variables...) {
		if value := e.caller.Env[name]; value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	for name, value := range c.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it has no terminal to ask at
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	words := e.Agent() + " " + strings.Join(c.Args, " ")
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s was still running after %s", words, enlistPatience)
	case err != nil:
		said := strings.Join(strings.Fields(sessions.StripEscapes(string(out))), " ")
		return fmt.Errorf("%s: %w: %s", words, err, missions.TruncateText(said, 200))
	}
	return nil
}

// noteEnlisted notes which server Umbra adds to a file, nil for none.
func (in *Installer) noteEnlisted(ctx context.Context, file string, one *EnlistedServer) error {
	return in.withHooksLock(ctx, func() error {
		return in.writeHooksDoc(func(doc *hooksDoc) {
			doc.Servers = slices.DeleteFunc(doc.Servers, func(s EnlistedServer) bool { return s.File == file })
			if one != nil {
				doc.Servers = append(doc.Servers, *one)
			}
		})
	})
}
