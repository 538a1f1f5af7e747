// Package remotes has the verbs that move missions to other machines and back.
package remotes

import (
	"github.com/umbra-vcs/umbra/commands/call"
	"github.com/umbra-vcs/umbra/commands/flags"
	"github.com/umbra-vcs/umbra/commands/print"
	"github.com/umbra-vcs/umbra/missions"
)

// Remote is `umbra remote`.
func Remote() *call.Verb {
	return &call.Verb{
		Name: "remote", Short: "the Git repositories that missions are pushed to and fetched from",
		Verbs: []*call.Verb{addCommand(), {
			Name: "ls", Short: "list the remotes of this project, and what was pushed and fetched", Run: runLs,
		}, {
			Name: "rm", Args: "NAME", Min: 1, Max: 1, Short: "forget a remote, and what was fetched from it",
			Long: "The remote itself stays as it is, and so do forks of what was fetched.", Run: runRm,
		}},
	}
}

func addCommand() *call.Verb {
	var project, keyFile string
	var noSessions bool
	return &call.Verb{
		Name: "add", Args: "NAME URL", Min: 2, Max: 2, Short: "add a remote to this project",
		Long: `Any Git repository will do, such as an empty bare one: a directory, HOST:PATH, ssh://… or
https://…. Git speaks to it, with your configuration and credentials. Missions are refs
below refs/umbra/ there; branches and tags are not touched. A repository may be the remote
of many projects: on all machines a project has one name there.

With --no-sessions no conversation leaves for it, neither now nor later: no prompt, answer,
command or message, and no name that was not typed. What is fetched from it has the files of
each snapshot, and a fork of it begins a new conversation.

With --encrypt all is encrypted before it leaves, names of missions too, in the format of age
(age-encryption.org). KEYFILE is as age-keygen makes it, and is made if it is not there. Whoever
has it reads what is on the remote; without it nobody does. Keep it outside of the workspace, and
take it to your other machines yourself.`,
		Flags: []flags.Flag{
			flags.String("project", "the `NAME` of this project there (default: its directory's)", &project),
			flags.Bool("no-sessions", "leave conversations out of what is pushed there", &noSessions),
			flags.String("encrypt", "encrypt what is pushed there with the key in `KEYFILE`", &keyFile),
		},
		Run: func(c *call.Call) error {
			svc, caller, ctx, err := c.Asking()
			if err != nil {
				return err
			}
			r, err := svc.AddRemote(ctx, missions.AddRemoteRequest{Caller: caller, Name: c.Arg(0), URL: c.Arg(1), Project: project, NoSessions: noSessions, KeyFile: keyFile})
			if err != nil {
				return err
			}
			return c.TellDone(r, func(p *print.Printer) {
				p.Line("%s is a remote of this project, which is %s there", p.Paint(print.Bold, r.Name), r.Project)
				if r.NoSessions {
					p.Line("  no conversation leaves for it: what is pushed has files alone")
				}
				switch {
				case r.KeyMade:
					p.Line("  made a key, %s: without it nobody reads what is pushed; your other machines need it too", print.Clean(r.KeyFile))
				case r.KeyFile != "":
					p.Line("  what is pushed is encrypted with the key in %s", print.Clean(r.KeyFile))
				}
				p.Line("  to send missions: umbra push %s; to bring those of others: umbra fetch %[1]s", r.Name)
			})
		},
	}
}

func runLs(c *call.Call) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	list, err := svc.Remotes(ctx, missions.RemoteRequest{Caller: caller})
	if err != nil {
		return err
	}
	if len(list) == 0 && !c.JSON {
		c.Notice("this project has no remote; add one with: umbra remote add NAME URL")
		return nil
	}
	return c.Print(call.Listed(list), func(p *print.Printer) {
		for _, r := range list {
			p.Line("%s  %s  %s", p.Paint(print.Bold, print.Clean(r.Name)), print.Clean(r.URL), p.Paint(print.Dim, "project "+print.Clean(r.Project)))
			if r.NoSessions {
				p.Line("  conversations are left out")
			}
			if r.KeyFile != "" {
				p.Line("  encrypted with the key in %s", print.Clean(r.KeyFile))
			}
			listMissions(p, r.Missions)
			if r.Auto != nil {
				writeAutomatic(p, *r.Auto)
			}
		}
	})
}

// writeAutomatic says how missions are pushed to a remote by themselves.
func writeAutomatic(p *print.Printer, a missions.AutomaticPush) {
	p.Line("  pushed by itself; what was there %s is looked through", p.When(a.At))
	if a.Problem != "" {
		p.Marked(print.Red, "  kept here:", print.Clean(a.Problem)+"; "+print.Clean(a.Fix))
	}
}

func runRm(c *call.Call) error {
	svc, caller, ctx, err := c.Asking()
	if err != nil {
		return err
	}
	r, err := svc.RemoveRemote(ctx, missions.RemoteRequest{Caller: caller, Name: c.Arg(0)})
	if err != nil {
		return err
	}
	return c.TellDone(r, func(p *print.Printer) { p.Line("%s is no remote of this project any more", print.Clean(r.Name)) })
}
