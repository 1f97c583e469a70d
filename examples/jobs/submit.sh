#!/usr/bin/env bash
# Submits a training job to Vertex AI and follows its logs: `submit.sh --help` and docs/jobs.md.
set -euo pipefail
# shellcheck source=examples/jobs/common.sh
. "$(dirname "$0")/common.sh"

usage() {
  cat <<'END'
submit.sh [FLAG...] [-- PROGRAM_FLAG...]: trains on Vertex AI and follows the job's logs

  --config FILE   the job: job.yaml (default), job-two-machines.yaml, job-languages.yaml or
                  trials.yaml, which tunes hyperparameters
  --build         build the image here (make image) and push it
  --cloud-build   build and push the image on Cloud Build
  --local         run the image here first, with your own credentials and the flags of LOCAL_ARGS
  --dry-run       print every command, run none
  --help          print this

Without --build and --cloud-build the image has to be in the registry already. Flags of the program
replace those of the same name in the job file. From the environment:

  PROJECT       the project; gcloud's own by default
  REGION        where the job runs, us-central1 by default
  BUCKET_NAME   the bucket for inputs and results, $PROJECT-seqtrain by default
  IMAGE_URI     the image, $REGION-docker.pkg.dev/$PROJECT/seqtrain/seqtrain:cuda by default if the
                job has an accelerator, seqtrain:latest if not
  JOB_NAME      the job's name, seqtrain_YYYYmmdd_HHMMSS by default
  JOB_DIR       where the model goes, gs://$BUCKET_NAME/$JOB_NAME/models by default
  LOCAL_ARGS    flags that --local adds, each --name=value; --max-steps=2 by default
  POLL_SECONDS  how often the job's state is looked at, 15 by default
  TORCH         the image's kind: cuda, the default if the job has an accelerator, or cpu
  PROGRAM, BASE, TORCH_INDEX   more arguments of the Containerfile

The job file that is sent stays in runs/$JOB_NAME.yaml.
END
}

config=$root/examples/jobs/job.yaml
build=
local_first=false
while (($# > 0)); do
  case $1 in
    --config)
      (($# > 1)) || stop "--config needs a file"
      config=$2
      shift
      ;;
    --config=*) config=${1#*=} ;;
    --build | --cloud-build)
      [[ -z $build || $build == "$1" ]] || stop "use one of --build and --cloud-build"
      build=$1
      ;;
    --local) local_first=true ;;
    --dry-run) dry_run=true ;;
    --help | -h)
      usage
      exit
      ;;
    --)
      shift
      break
      ;;
    *) stop "there is no flag $1; flags of the program follow --" "$0 --help" ;;
  esac
  shift
done
given=("$@") # the program's flags

# Prints a flag's name with `-` in place of `_`, or nothing if the word is not a flag.
flag_name() {
  local name=${1%%=*}
  if [[ $name == --* ]]; then printf '%s\n' "${name//_/-}"; fi
}

is_given() {
  local word
  [[ $1 == --* ]] || return 1
  for word in ${given[@]+"${given[@]}"}; do
    [[ $(flag_name "$word") != "$(flag_name "$1")" ]] || return 0
  done
  return 1
}

check_flags() {
  local word name
  for word in ${given[@]+"${given[@]}"}; do
    [[ $word != *$'\n'* ]] || stop "a flag of the program has more than one line: $word"
    name=$(flag_name "$word")
    [[ $name != --job-dir ]] || stop "JOB_DIR sets --job-dir" "JOB_DIR=gs://… $0 …"
    if [[ -n $name ]] && grep -qE "^[^#]*parameterId\"?: *\"?${name#--}\"? *\$" "$config"; then
      stop "$name is varied by the trials of $config: leave it out, or use job.yaml"
    fi
  done
  if ((${#given[@]} > 0)) && ! grep -qE '^ *# @ARGS@' "$config"; then
    stop "$config has no line '# @ARGS@' for the flags that follow --"
  fi
}

# Prints the job file in the form in which it is sent: without comments, with values for the words
# between two @, and with the program's flags.
fill_in() {
  local line word
  while IFS= read -r line || [[ -n $line ]]; do
    if [[ $line =~ ^\ *-\ +(--[A-Za-z0-9_-]+) ]] && is_given "${BASH_REMATCH[1]}"; then
      continue
    elif [[ $line =~ ^(\ *)#\ @ARGS@ ]]; then
      for word in ${given[@]+"${given[@]}"}; do
        word=${word//\\/\\\\}
        printf '%s- "%s"\n' "${BASH_REMATCH[1]}" "${word//\"/\\\"}"
      done
    elif ! [[ $line =~ ^\ *# ]]; then
      printf '%s\n' "$line"
    fi
  done < <(sed -e "s|@BUCKET_NAME@|$BUCKET_NAME|g" -e "s|@IMAGE_URI@|$IMAGE_URI|g" \
    -e "s|@JOB_DIR@|$JOB_DIR|g" -e "s|@JOB_NAME@|$JOB_NAME|g" "$config")
}

# Prints the flags that the program gets on the first machine, one a line.
flags_of_job() {
  local line inside=false
  while IFS= read -r line; do
    if [[ $line =~ ^\ *args:\ *$ ]]; then
      inside=true
    elif $inside && [[ $line =~ ^\ *-\ +(--.*)$ ]]; then
      printf '%s\n' "${BASH_REMATCH[1]}"
    elif $inside; then
      break
    fi
  done <<<"$job"
  ((${#given[@]} == 0)) || printf '%s\n' "${given[@]}"
}

# Sets `kind`, gcloud's word for the job, `job`, the file that is sent, and `arguments`, the
# program's flags. Stops if the file is wrong.
read_job_file() {
  local message=CustomJobSpec unknown line
  kind=custom-jobs
  if grep -qE '^[^#]*(studySpec|trialJobSpec)"?:' "$config"; then
    kind=hp-tuning-jobs
    message=HyperparameterTuningJob
  fi
  unknown=$(awk -v root=$message -f "$root/examples/jobs/unknown_keys.awk" "$config")
  [[ -z $unknown ]] ||
    stop "$config has keys that a $message does not have there:"$'\n'"$unknown" "vi $config"
  check_flags
  job=$(fill_in)
  [[ ! $job =~ @[A-Z_]+@ ]] ||
    stop "$config has ${BASH_REMATCH[0]}, which nothing fills in" "vi $config"
  arguments=()
  while IFS= read -r line; do arguments+=("$line"); done < <(flags_of_job)
}

# Checks that the bucket exists and belongs to the project, which pays for it and whose jobs may write
# to it.
check_bucket() {
  ask OWNER gcloud storage buckets describe "gs://$BUCKET_NAME" --project="$PROJECT" --raw \
    --format='value(projectNumber)' || stop "the bucket gs://$BUCKET_NAME cannot be read" \
    "gcloud storage buckets create gs://$BUCKET_NAME --project=$PROJECT --location=$REGION"
  ask NUMBER gcloud projects describe "$PROJECT" --format='value(projectNumber)' ||
    stop "the project $PROJECT cannot be read" "gcloud projects list" \
      "gcloud config set project PROJECT_ID"
  $dry_run || [[ $OWNER == "$NUMBER" ]] ||
    stop "gs://$BUCKET_NAME belongs to project number $OWNER, not to $PROJECT ($NUMBER)" \
      "export BUCKET_NAME=NAME    # a bucket of $PROJECT; to make one:" \
      "gcloud storage buckets create gs://NAME --project=$PROJECT --location=$REGION"
}

# Checks that the program's inputs in buckets exist.
check_inputs() {
  local word before=
  for word in ${arguments[@]+"${arguments[@]}"}; do
    case $word in --*=*) before=${word%%=*} ;; esac
    case ${before//_/-} in
      --job-dir | --checkpoint-dir | --output-dir) ;;
      *) [[ ${word#--*=} != gs://* ]] ||
        check_place "${word#--*=}" "gcloud storage cp --recursive LOCAL_PATH ${word#--*=}" ;;
    esac
    before=$word
  done
}

check_repository() {
  local location=${IMAGE_URI%%-docker.pkg.dev/*} path=${IMAGE_URI#*-docker.pkg.dev/} project
  [[ $IMAGE_URI == *-docker.pkg.dev/*/*/* ]] || return 0
  project=${path%%/*}
  path=${path#*/}
  if [[ $project == *.* ]]; then # an organization, then its project
    project=$project:${path%%/*}
    path=${path#*/}
  fi
  path=${path%%/*}
  ask REPOSITORY gcloud artifacts repositories describe "$path" --location="$location" \
    --project="$project" --format='value(name)' ||
    stop "there is no repository $path for the image" "gcloud artifacts repositories create $path \
--repository-format=docker --location=$location --project=$project"
}

# Sets TORCH, the kind of LibTorch in the image, to what the job can use, and `tag` to that of such an image.
choose_torch() {
  local accelerator=false
  [[ -r $config ]] || stop "the job file $config cannot be read"
  ! grep '^[^#]*acceleratorType' "$config" | grep -qv ACCELERATOR_TYPE_UNSPECIFIED || accelerator=true
  if $accelerator && [[ -z ${TORCH_INDEX:-} ]]; then TORCH=${TORCH:-cuda}; fi
  case ${TORCH:=cpu} in
    cpu) tag=latest ;;
    cuda) tag=cuda ;;
    *) stop "TORCH is '$TORCH'; it must be cpu or cuda" ;;
  esac
  if $accelerator && [[ $TORCH == cpu ]]; then
    echo "warning: the image is one for processors, so the job's accelerator stays idle; leave out TORCH and" \
      "TORCH_INDEX for one that uses GPUs" >&2
  fi
}

ENGINE=
find_engine() {
  [[ -z $ENGINE ]] || return 0
  ask ENGINE "$root/tools/container_engine.sh" || exit 2
}

build_here() {
  find_engine
  run env IMAGE_URI="$IMAGE_URI" TORCH="$TORCH" make -C "$root" image || stop "the image cannot be built"
  run "$ENGINE" push "$IMAGE_URI" || stop "$IMAGE_URI cannot be pushed; nothing was submitted" \
    "gcloud auth configure-docker ${IMAGE_URI%%/*}"
}

build_in_cloud() {
  local name values=_IMAGE_URI=$IMAGE_URI
  for name in BASE PROGRAM TORCH TORCH_INDEX; do
    [[ -z ${!name:-} ]] || values+=,_$name=${!name}
  done
  run gcloud builds submit "$root" --project="$PROJECT" \
    --config="$root/examples/jobs/cloudbuild.yaml" --substitutions="$values" ||
    stop "the image cannot be built; nothing was submitted" \
      "gcloud services enable cloudbuild.googleapis.com --project=$PROJECT"
}

# Runs the image with the caller's credentials, and as the caller, who may read their file.
run_here() {
  local word key options arguments_here=() place=$JOB_NAME/models here=$JOB_NAME/local
  key=${CLOUDSDK_CONFIG:-$HOME/.config/gcloud}/application_default_credentials.json
  key=${GOOGLE_APPLICATION_CREDENTIALS:-$key}
  $dry_run || [[ -r $key ]] || stop "there are no credentials in $key" \
    "gcloud auth application-default login"
  find_engine
  [[ $ENGINE != buildah ]] || stop "--local needs docker or podman" "apt-get install podman"
  options=(--rm --user "$(id -u):$(id -g)" --tmpfs /work/runs:mode=1777 --env HOME=/tmp
    --volume "$key:/tmp/credentials.json:ro" --env GOOGLE_APPLICATION_CREDENTIALS=/tmp/credentials.json)
  [[ $ENGINE != podman ]] || options+=(--userns=keep-id)
  ! command -v nvidia-smi >/dev/null || options+=(--gpus all)
  if [[ $job =~ command:\ *\[([a-z]+)\] ]]; then options+=(--entrypoint "${BASH_REMATCH[1]}"); fi
  for word in ${arguments[@]+"${arguments[@]}"}; do
    arguments_here+=("${word/$place/$here}")
  done
  for word in ${LOCAL_ARGS---max-steps=2}; do
    is_given "$word" || arguments_here+=("$word")
  done
  run "$ENGINE" run "${options[@]}" "$IMAGE_URI" "${arguments_here[@]}" ||
    stop "the program failed here; nothing was submitted"
}

submit() {
  local file=runs/$JOB_NAME.yaml
  if $dry_run; then
    printf "mkdir -p runs\ncat >%s <<'END'\n%s\nEND\n" "$file" "$job"
  else
    mkdir -p runs
    printf '%s\n' "$job" >"$file"
  fi
  run_for JOB gcloud ai "$kind" create --project="$PROJECT" --region="$REGION" \
    --display-name="$JOB_NAME" --config="$file" --format='value(name)' ||
    stop "the job was not accepted" "gcloud services enable aiplatform.googleapis.com --project=$PROJECT"
  note "Submitted. The job goes on without this script; to see it again or to end it:"
  note "  gcloud ai $kind stream-logs $JOB"
  note "  gcloud ai $kind cancel $JOB"
}

job_state() {
  gcloud ai "$kind" describe "$JOB" --format='value(state)' 2>/dev/null || true
}

# Follows the logs until the job has ended: stream-logs itself does not end, since it asks for the
# state of the job only once.
follow() {
  local streamer
  STATE=
  if $dry_run; then
    run gcloud ai "$kind" stream-logs "$JOB" --polling-interval=10
    ask STATE gcloud ai "$kind" describe "$JOB" --format='value(state)'
    return
  fi
  set -m # a process group for gcloud and its children
  gcloud ai "$kind" stream-logs "$JOB" --polling-interval=10 </dev/null &
  streamer=$!
  set +m
  # shellcheck disable=SC2064
  trap "kill -- -$streamer 2>/dev/null || true" EXIT
  until [[ $STATE =~ SUCCEEDED|FAILED|CANCELLED|EXPIRED ]]; do
    sleep "$POLL_SECONDS"
    STATE=$(job_state)
  done
  sleep "$POLL_SECONDS" # the last lines are on their way
  kill -- "-$streamer" 2>/dev/null || true
  wait "$streamer" 2>/dev/null || true
}

tell_end() {
  if ! $dry_run && [[ $STATE != *SUCCEEDED ]]; then
    printf 'error: the job ended as %s\n' "$STATE" >&2
    gcloud ai "$kind" describe "$JOB" --format='value(error.message)' >&2 || true
    exit 1
  fi
  if [[ $kind == hp-tuning-jobs ]]; then
    local table="trials.id,trials.state,trials.finalMeasurement.metrics[0].value:label=ACCURACY"
    table+=",trials.parameters.map().format('{0}={1}',parameterId,value).list():label=PARAMETERS"
    run gcloud ai hp-tuning-jobs describe "$JOB" --flatten='trials[]' --format="table($table)"
    note "Fine-tuned model: $JOB_DIR/TRIAL/model"
  else
    note "Fine-tuned model: $JOB_DIR"
  fi
}

choose_torch
set_defaults "$tag"
default_bucket=${PROJECT//[:.]/-}-seqtrain
BUCKET_NAME=${BUCKET_NAME:-$default_bucket}
BUCKET_NAME=${BUCKET_NAME#gs://}
BUCKET_NAME=${BUCKET_NAME%/}
JOB_NAME=${JOB_NAME:-seqtrain_$(date +%Y%m%d_%H%M%S)}
JOB_DIR=${JOB_DIR:-gs://$BUCKET_NAME/$JOB_NAME/models}
POLL_SECONDS=${POLL_SECONDS:-15}
only_plain BUCKET_NAME JOB_NAME JOB_DIR
[[ $JOB_NAME != */* && $JOB_DIR == gs://* ]] ||
  stop "JOB_NAME has to be a name and JOB_DIR gs://…: '$JOB_NAME', '$JOB_DIR'"

read_job_file
check_account
check_bucket
check_inputs
case $build in
  --build)
    check_repository
    build_here
    ;;
  --cloud-build)
    check_repository
    build_in_cloud
    ;;
  *) find_image || stop "there is no image $IMAGE_URI" "$0 --build …    # or --cloud-build" ;;
esac
if $local_first; then run_here; fi
submit
follow
tell_end
