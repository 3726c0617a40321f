{{/*
The data of the Secret of the chart's own credentials, as JSON: what the cluster has of it, and the rest made, once for each render.
A release keeps what it has made.
*/}}
{{- define "posthaste.credentials" -}}
{{- if not (hasKey .Values.credentials "made") -}}
{{- $made := dict
  "token" (dict "UserID" "default" "Password" (randAlphaNum 32) | toJson | b64enc)
  "signing-key-current" (printf "sig_%s" (randAlphaNum 28))
  "signing-key-next" (printf "sig_%s" (randAlphaNum 28))
  "sealing-keys" (randBytes 32)
  "management-password" (randAlphaNum 32) -}}
{{- $name := printf "%s-credentials" (include "posthaste.fullname" .) -}}
{{- $kept := dig "data" dict (lookup "v1" "Secret" .Release.Namespace $name) -}}
{{- $data := dict -}}
{{- range $key, $value := $made -}}
{{- $_ := set $data $key (dig $key ($value | b64enc) $kept) -}}
{{- end -}}
{{- $_ := set .Values.credentials "made" $data -}}
{{- end -}}
{{- toJson .Values.credentials.made -}}
{{- end -}}

{{/* A sum over the secrets that a pod mounts, as posthaste.secrets has them: (dict "root" $ "secrets" map). */}}
{{- define "posthaste.checksum" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- $fullname := include "posthaste.fullname" $root -}}
{{- $own := dict (printf "%s-stores" $fullname) (dict "kafka-password" $values.kafka.password "redis-url" $values.redis.url "mongodb-uri" $values.mongodb.uri) -}}
{{- if not $values.credentials.existingSecret -}}
{{- $_ := set $own (printf "%s-credentials" $fullname) (include "posthaste.credentials" $root | fromJson) -}}
{{- end -}}
{{- $found := dict -}}
{{- range $file, $from := .secrets -}}
{{- $kind := default "Secret" $from.kind -}}
{{- $at := eq $kind "Secret" | ternary $from.name (printf "%s/%s" $kind $from.name) -}}
{{- if and (not (hasKey $own $at)) $values.rollOnSecretChange -}}
{{- $_ := set $own $at (dig "data" dict (lookup "v1" $kind $root.Release.Namespace $from.name)) -}}
{{- end -}}
{{- $_ := set $found $file (dig $at $from.key "" $own) -}}
{{- end -}}
{{- toJson $found | sha256sum -}}
{{- end -}}
