ALTER TABLE "authorizations" ADD COLUMN "credential_tries" bigint;--> statement-breakpoint
ALTER TABLE "connections" ADD COLUMN "refused_at" bigint;