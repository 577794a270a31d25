ALTER TABLE "authorizations" ADD COLUMN "opened_at" bigint;--> statement-breakpoint
ALTER TABLE "authorizations" ADD COLUMN "trail" text;--> statement-breakpoint
ALTER TABLE "connections" ADD COLUMN "trail" text;--> statement-breakpoint
CREATE INDEX "connections_troubled" ON "connections" USING btree ("project_id","id") WHERE trail is not null;