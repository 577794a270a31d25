ALTER TABLE "events" ADD COLUMN "user_id" text;--> statement-breakpoint
CREATE INDEX "api_keys_of_user" ON "api_keys" USING btree ("project_id","user_id","id");--> statement-breakpoint
CREATE INDEX "events_of_user" ON "events" USING btree ("project_id","user_id","id");