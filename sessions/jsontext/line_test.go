package jsontext

import (
	"strings"
	"testing"
)

// TestRedactLine: what a shell's line gives to a secret's option, variable or header is
// left out, and so is what looks like a secret; everything else stays as it was typed.
func TestRedactLine(t *testing.T) {
	t.Parallel()
	drawn := strings.Repeat("a7Kq2Zx9", 5)
	for line, want := range map[string]string{
		`curl -H "Authorization: Bearer hunter2" https://h/x`:      `curl -H "Authorization: Bearer ` + leftOut + `" https://h/x`,
		`curl -sH 'X-Api-Key: hunter2' https://h | jq .`:           `curl -sH 'X-Api-Key: ` + leftOut + `' https://h | jq .`,
		`curl -u me:hunter2 https://h`:                             `curl -u me:` + leftOut + ` https://h`,
		`curl --user "me:hunter2" https://h`:                       `curl --user "me:` + leftOut + `" https://h`,
		`git clone https://me:hunter2@h/x.git && cd x`:             `git clone https://me:[umbra-left-out:password]@h/x.git && cd x`,
		`PGPASSWORD=hunter2 psql -h db -p 5432`:                    `PGPASSWORD=` + leftOut + ` psql -h db -p 5432`,
		`cd /x && export DB_PASSWORD='hun ter2'; make`:             `cd /x && export DB_PASSWORD=` + leftOut + `; make`,
		`mysql -u root -phunter2 -e "select 1"`:                    `mysql -u root -p` + leftOut + ` -e "select 1"`,
		`sshpass -p hunter2 ssh -p 22 me@h`:                        `sshpass -p ` + leftOut + ` ssh -p 22 me@h`,
		`sudo docker login -u me -p hunter2 registry`:              `sudo docker login -u me -p ` + leftOut + ` registry`,
		`docker exec -it db mysql -u root -phunter2`:               `docker exec -it db mysql -u root -p` + leftOut,
		`kubectl exec db -- mysqldump -phunter2 x`:                 `kubectl exec db -- mysqldump -p` + leftOut + ` x`,
		`sudo -u x mysql -phunter2`:                                `sudo -u x mysql -p` + leftOut,
		`sudo -E mysql -phunter2`:                                  `sudo -E mysql -p` + leftOut,
		`if mysql -phunter2; then mysql -phunter3; fi`:             `if mysql -p` + leftOut + `; then mysql -p` + leftOut + `; fi`,
		`until ! mysqladmin -phunter2 ping; do sleep 1; done`:      `until ! mysqladmin -p` + leftOut + ` ping; do sleep 1; done`,
		`timeout 5 ssh -t h mysql -phunter2`:                       `timeout 5 ssh -t h mysql -p` + leftOut,
		`n="$(mysql -phunter2 -e 'select 1')"`:                     `n="$(mysql -p` + leftOut + ` -e 'select 1')"`,
		`curl -su me:pw https://h`:                                 `curl -su me:` + leftOut + ` https://h`,
		`curl -sSLume:pw https://h`:                                `curl -sSLume:` + leftOut + ` https://h`,
		`ldapsearch -xw hunter2 -b dc=x`:                           `ldapsearch -xw ` + leftOut + ` -b dc=x`,
		`zip -rP hunter2 a.zip a`:                                  `zip -rP ` + leftOut + ` a.zip a`,
		`MYSQL_PWD=hunter2 mysql -u root`:                          `MYSQL_PWD=` + leftOut + ` mysql -u root`,
		`docker run -e MYSQL_PWD=hunter2 -e DB_PASS=hunter2 x`:     `docker run -e MYSQL_PWD=` + leftOut + ` -e DB_PASS=` + leftOut + ` x`,
		`SSHPASS=hunter2 sshpass -e ssh -p 22 me@h`:                `SSHPASS=` + leftOut + ` sshpass -e ssh -p 22 me@h`,
		`sudo -n helm registry login -u me -p hunter2 h`:           `sudo -n helm registry login -u me -p ` + leftOut + ` h`,
		`smbclient //h/s -U me%hunter2 -c ls`:                      `smbclient //h/s -U me%` + leftOut + ` -c ls`,
		`openssl pkcs12 -in a.p12 -passin pass:hunter2`:            `openssl pkcs12 -in a.p12 -passin pass:` + leftOut,
		`curl -sb "sid=hunter2; a=b" https://h`:                    `curl -sb "sid=` + leftOut + `" https://h`,
		`curl --cookie sid=hunter2 https://h`:                      `curl --cookie sid=` + leftOut + ` https://h`,
		`aws configure set aws_secret_access_key hunter2`:          `aws configure set aws_secret_access_key ` + leftOut,
		`docker login ghcr.io/org/npm -u me -p hunter2`:            `docker login ghcr.io/org/npm -u me -p ` + leftOut,
		`docker exec c openssl rsa -passin pass:hunter2`:           `docker exec c openssl rsa -passin pass:` + leftOut,
		`kubectl exec p -- smbclient //h/s -U me%hunter2`:          `kubectl exec p -- smbclient //h/s -U me%` + leftOut,
		`mysql -u me aws -phunter2`:                                `mysql -u me aws -p` + leftOut,
		`npm config set //h/:_authToken hunter2`:                   `npm config set //h/:_authToken ` + leftOut,
		`redis-cli -a hunter2 ping`:                                `redis-cli -a ` + leftOut + ` ping`,
		`deploy --token hunter2 --region eu`:                       `deploy --token ` + leftOut + ` --region eu`,
		`deploy --password=hunter2`:                                `deploy --password=` + leftOut,
		`sh -c "deploy --api-key hunter2"`:                         `sh -c "deploy --api-key ` + leftOut + `"`,
		`ssh h 'sudo mysql -phunter2'`:                             `ssh h 'sudo mysql -p` + leftOut + `'`,
		`http GET h "Authorization:Bearer hunter2"`:                `http GET h "Authorization:Bearer ` + leftOut + `"`,
		`curl -d '{"user":"me","password":"hunter2"}' h`:           `curl -d '{"user":"me","password":"` + leftOut + `"}' h`,
		`curl -d '{"password": "hunter2"}' h`:                      `curl -d '{"password": "` + leftOut + `"}' h`,
		`kubectl create secret generic x --from-literal=token=abc`: `kubectl create secret generic x --from-literal=token=` + leftOut,
		`echo sk-ant-api03-` + drawn + ` > key`:                    `echo [umbra-left-out:anthropic-key] > key`,
		"cat <<E\nAWS_SECRET_ACCESS_KEY=" + drawn + "\nE":          "cat <<E\nAWS_SECRET_ACCESS_KEY=" + leftOut + "\nE",
	} {
		got := RedactLine(line)
		if got != want {
			t.Errorf("%s\nis    %s\nwants %s", line, got, want)
		}
		if again := RedactLine(got); again != got {
			t.Errorf("%s\nis then %s", got, again)
		}
	}
}

// TestRedactLineKeeps: variables, places of secrets, ids and texts stay as they are.
func TestRedactLineKeeps(t *testing.T) {
	t.Parallel()
	for _, line := range []string{
		"", "src/token.go", "/home/me/ws/secrets/password reset.md", "internal/auth/token_test.go", `C:\x\password.txt`,
		`curl -H "Authorization: Bearer $TOKEN" https://h/x`, `curl -H "Authorization: Bearer ${TOKEN}" h`, `curl -u "$U:$P" h`, `curl -o x -L https://h/x`,
		`deploy --token "$TOKEN"`, `deploy --token $(cat /run/token)`, `deploy --password-file /run/x`, `export TOKEN=$(pass show x)`, `deploy --token <your-token>`, `docker run -e TOKEN -p 8080:80 x`,
		`umbra login -p 8080`, `npm run login -p 8080`, `docker run -d --name mongo -p 27017:27017 mongo:7`, `docker run --name login -p 8080:80 x`, `sudo docker run --name mongo -p 27017:27017 mongo`,
		`sshpass -f /run/pw ssh -p 22 me@h`, `gh auth login -p https`, `curl -sp 8080 h`, `ssh -p 22 mysql.example.com ls`, `cd "$PWD"; OLDPWD=/x make`, `x="a b" y='it is' make`,
		`smbclient -L h -U me`, `openssl req -key k.pem -passin env:PW`, `openssl rsa -passin pass:$PW`, `curl -b cookies.txt h`, `aws configure set region eu-west-1`, `npm config set token $TOKEN`,
		`psql -h db -p 5432`, `mkdir -p a/b && cp -p a b`, `ssh -p 22 me@h`, `mysql -u root -p`, `mysql -h db -p"$P" x`, `git log -p --author=me`,
		`git show 9d81a98f3c2b4e5d6a7b8c9d0e1f2a3b4c5d6e7f`, `umbra show 0195b3a4-7c8d-7e9f-8a1b-2c3d4e5f6a7b`, `sha256sum -c sums # e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855`,
		`grep -rn "token" src/`, `grep -rn 'password = ' .`, `go test ./... -run 'TestToken|TestSecret' -count=1`, `rg "func .*Secret\(" -g '*.go'`, `awk '{token=$1; print token}' x`,
		`base64 -d <<< "aGVsbG8gd29ybGQ="`, `npm run build -- --tokens=3 --max-tokens 4096`, `kubectl get secret db -o yaml`, `gh auth token`, `cat .env.example`, `[ -z "$API_TOKEN" ] && exit 1`,
		`sed -i 's/password: .*/password: x/' config.yml`, `echo "a 'b' \"c\" \\" ; echo 'it''s'`, "unclosed 'quote and \"another", `trailing \`, `python -c "import secrets; print(secrets.token_hex(16))"`,
	} {
		if got := RedactLine(line); got != line {
			t.Errorf("%s\nis %s", line, got)
		}
		if got := RedactSaid(line); got != line {
			t.Errorf("%s\nis, where it is said, %s", line, got)
		}
	}
}
