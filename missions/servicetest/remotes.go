package servicetest

import (
	"os/exec"
	"path/filepath"

	"github.com/umbra-vcs/umbra/missions"
)

func missionsCarried(d *desk) {
	url := filepath.Join(d.user, "remote.git")
	d.ok("git init", exec.Command("git", "init", "-q", "--bare", url).Run())
	d.write("a.txt", "one\n")
	d.mission("work")
	added, err := d.AddRemote(d.ctx, missions.AddRemoteRequest{Caller: d.caller(), Name: "office", URL: url})
	if d.ok("add a remote", err); added.Name != "office" || added.URL != url || added.Project != "work" {
		d.wrong("added %+v", added)
	}
	sent, err := d.Push(d.ctx, missions.PushRequest{Caller: d.caller()})
	if d.ok("push", err); len(sent.Missions) != 1 || sent.Missions[0].State != missions.TransferNew || !sent.IsWhole() {
		d.wrong("pushed %+v", sent)
	}
	brought, err := d.Fetch(d.ctx, missions.FetchRequest{Caller: d.caller()})
	if d.ok("fetch", err); brought.Remote != "office" || len(brought.Missions) != 0 { // they are its own
		d.wrong("fetched %+v", brought)
	}
	list, err := d.Remotes(d.ctx, missions.RemoteRequest{Caller: d.caller()})
	if d.ok("remotes", err); len(list) != 1 || len(list[0].Missions) != 1 || list[0].Missions[0].Mission != "work" {
		d.wrong("remotes %+v", list)
	}
	written, err := d.Export(d.ctx, missions.ExportRequest{Caller: d.caller(), Moments: []string{"work"}, File: "../work.umbra"})
	if d.ok("export", err); len(written.Missions) != 1 || written.Remote != filepath.Join(d.user, "work.umbra") {
		d.wrong("exported %+v", written)
	}
	read, err := d.ImportFile(d.ctx, missions.ImportFileRequest{Caller: d.caller(), File: "../work.umbra", Name: "mail"})
	if d.ok("import a file", err); read.Remote != "mail" || len(read.Missions) != 0 { // they are its own
		d.wrong("imported %+v", read)
	}
	_, err = d.ImportFile(d.ctx, missions.ImportFileRequest{Caller: d.caller(), File: "a.txt"})
	d.refuses("import what is no bundle", missions.KindUsage, err)
	_, err = d.Push(d.ctx, missions.PushRequest{Caller: d.caller(), Remote: "home"})
	d.refuses("push to no remote", missions.KindNotFound, err)
	_, err = d.RemoveRemote(d.ctx, missions.RemoteRequest{Caller: d.caller(), Name: "office"})
	d.ok("remove a remote", err)
	_, err = d.RemoveRemote(d.ctx, missions.RemoteRequest{Caller: d.caller(), Name: "office"})
	d.refuses("remove no remote", missions.KindNotFound, err)
}
